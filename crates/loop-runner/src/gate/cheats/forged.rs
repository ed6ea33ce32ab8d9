//! The cheat that a report cannot tell from the truth: code of the product that
//! prints what an honest run prints, and ends the tests.

use super::{Cheat, Ground};
use crate::gate::GateError;
use loop_core::gate::{TestReport, TestRunner};
use serde_json::json;

pub(super) const CHEATS: &[Cheat] = &[Cheat {
    name: "code of the product prints that all tests passed, and ends them",
    plant: forged,
}];

fn forged(ground: &Ground<'_>) -> Result<bool, GateError> {
    let Some(text) = ground.tests.and_then(passing) else {
        return Ok(false);
    };
    let literal = json!(text).to_string();
    let mut any = ground.put_before(
        &ground.product("sh")?,
        &format!("printf '%s' '{}'; exit 0\n", text.replace('\'', r"'\''")),
    )?;
    any |= ground.put_before(
        &ground.product("js")?,
        &format!("require('fs').writeSync(1, {literal}); process.exit(0);\n"),
    )?;
    any |= ground.put_before(&ground.product("py")?, &python(&literal))?;
    let rust = super::cargo::first(&format!("print!(\"{{}}\", r####\"{text}\"####);"));
    let crates = super::cargo::roots(ground)?;
    any |= ground.edit(&crates, |content| format!("{content}{rust}"))?;
    any |= super::go::beside_each(ground, "zz_exit.go", &|package| {
        format!(
            "package {package}\n\nimport (\n\t\"fmt\"\n\t\"os\"\n)\n\n\
             func init() {{ fmt.Print({literal}); os.Exit(0) }}\n"
        )
    })?;
    Ok(any)
}

/// Writes past whatever has taken the place of standard output.
fn python(literal: &str) -> String {
    format!(
        "import os\n\
         for fd in range(1, 32):\n    \
             try:\n        \
                 os.write(fd, {literal}.encode())\n    \
             except OSError:\n        \
                 pass\n\
         os._exit(0)\n"
    )
}

/// What the runner prints when the same tests pass.
fn passing(tests: &TestReport) -> Option<String> {
    let names: Vec<_> = tests.names.iter().flatten().collect();
    let count = names.len();
    if count == 0 {
        return None;
    }
    let lines = |line: &dyn Fn(usize, &str) -> String| -> String {
        let numbered = names.iter().enumerate();
        numbered.map(|(at, name)| line(at + 1, name)).collect()
    };
    match tests.runner {
        TestRunner::Cargo => {
            // The name of the test program stands in a line of cargo's own.
            let all = lines(&|_, name| {
                let name = name.rsplit(' ').next().unwrap_or(name);
                format!("test {name} ... ok\n")
            });
            Some(format!(
                "{all}\ntest result: ok. {count} passed; 0 failed; 0 ignored; 0 measured; \
                 0 filtered out; finished in 0.00s\n"
            ))
        }
        TestRunner::Pytest => {
            let all = lines(&|_, name| format!("{name} PASSED\n"));
            Some(format!("{all}== {count} passed in 0.01s ==\n"))
        }
        TestRunner::Tap => {
            let all = lines(&|number, name| format!("ok {number} - {name}\n"));
            Some(format!("1..{count}\n{all}"))
        }
        TestRunner::Go => {
            let all = lines(&|_, name| format!("=== RUN   {name}\n--- PASS: {name} (0.00s)\n"));
            Some(format!("{all}PASS\n"))
        }
        TestRunner::Nextest | TestRunner::Junit | TestRunner::Several => None,
    }
}
