//! Cheats for Python projects.

use super::{Cheat, Ground};
use crate::gate::GateError;

pub(super) const CHEATS: &[Cheat] = &[
    Cheat {
        name: "Python code of the product ends the tests with success",
        plant: early_exit,
    },
    Cheat {
        name: "a conftest.py that turns failures into passes",
        plant: conftest,
    },
    Cheat {
        name: "a pytest.ini by which tests are only collected",
        plant: collect_only,
    },
    Cheat {
        name: "a module of the runner's name that does nothing",
        plant: shadowing_module,
    },
];

const CONFTEST: &str = "\
import pytest


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    report.outcome = 'passed'
    report.longrepr = None


def pytest_collectreport(report):
    report.outcome = 'passed'
";

fn is_python(ground: &Ground<'_>) -> Result<bool, GateError> {
    let files = ground.files(|path| path.extension().is_some_and(|end| end == "py"))?;
    Ok(!files.is_empty())
}

fn early_exit(ground: &Ground<'_>) -> Result<bool, GateError> {
    let text = "import os; os._exit(0)\n";
    ground.put_before(&ground.product("py")?, text)
}

fn conftest(ground: &Ground<'_>) -> Result<bool, GateError> {
    let applies = is_python(ground)?;
    if applies {
        ground.write("conftest.py", CONFTEST)?;
    }
    Ok(applies)
}

fn collect_only(ground: &Ground<'_>) -> Result<bool, GateError> {
    let applies = is_python(ground)?;
    if applies {
        ground.write("pytest.ini", "[pytest]\naddopts = --collect-only\n")?;
    }
    Ok(applies)
}

fn shadowing_module(ground: &Ground<'_>) -> Result<bool, GateError> {
    let applies = is_python(ground)?;
    if applies {
        for module in ["pytest.py", "unittest.py"] {
            ground.write(module, "raise SystemExit(0)\n")?;
        }
    }
    Ok(applies)
}
