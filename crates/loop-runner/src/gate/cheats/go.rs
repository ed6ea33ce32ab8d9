//! Cheats for Go projects.

use super::{Cheat, Ground};
use crate::gate::GateError;
use std::path::{Path, PathBuf};

pub(super) const CHEATS: &[Cheat] = &[
    Cheat {
        name: "Go code of the product ends the tests with success",
        plant: early_exit,
    },
    Cheat {
        name: "a TestMain that runs no test",
        plant: test_main,
    },
];

fn early_exit(ground: &Ground<'_>) -> Result<bool, GateError> {
    beside_each(ground, "zz_exit.go", &|package| {
        format!("package {package}\n\nimport \"os\"\n\nfunc init() {{ os.Exit(0) }}\n")
    })
}

fn test_main(ground: &Ground<'_>) -> Result<bool, GateError> {
    beside_each(ground, "zz_main_test.go", &|package| {
        format!(
            "package {package}\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\n\
             func TestMain(m *testing.M) {{ os.Exit(0) }}\n"
        )
    })
}

/// Writes a file into the folder of each package of the product.
pub(super) fn beside_each(
    ground: &Ground<'_>,
    name: &str,
    text: &dyn Fn(&str) -> String,
) -> Result<bool, GateError> {
    let mut any = false;
    for file in ground.product("go")? {
        let content = ground.read(&file).unwrap_or_default();
        let mut lines = content.lines();
        let Some(package) = lines.find_map(|line| line.strip_prefix("package ")) else {
            continue;
        };
        let path: PathBuf = file.parent().unwrap_or_else(|| Path::new("")).join(name);
        ground.write(path, &text(package.trim()))?;
        any = true;
    }
    Ok(any)
}
