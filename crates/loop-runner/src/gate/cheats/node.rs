//! Cheats for JavaScript and TypeScript projects.

use super::{Cheat, Ground};
use crate::gate::GateError;
use serde_json::{Value, json};
use std::path::Path;

pub(super) const CHEATS: &[Cheat] = &[
    Cheat {
        name: "JavaScript code of the product ends the tests with success",
        plant: early_exit,
    },
    Cheat {
        name: "scripts in package.json that do nothing",
        plant: scripts,
    },
    Cheat {
        name: "a test configuration that finds no tests and is content",
        plant: no_tests,
    },
];

const MANIFEST: &str = "package.json";

fn early_exit(ground: &Ground<'_>) -> Result<bool, GateError> {
    let mut any = false;
    for extension in ["js", "cjs", "mjs", "ts"] {
        any |= ground.put_before(&ground.product(extension)?, "process.exit(0);\n")?;
    }
    Ok(any)
}

fn scripts(ground: &Ground<'_>) -> Result<bool, GateError> {
    let Some(text) = ground.read(Path::new(MANIFEST)) else {
        return Ok(false);
    };
    let Ok(mut manifest) = serde_json::from_str::<Value>(&text) else {
        return Ok(false);
    };
    let Some(scripts) = manifest.get_mut("scripts").and_then(Value::as_object_mut) else {
        return Ok(false);
    };
    scripts
        .values_mut()
        .for_each(|script| *script = json!("exit 0"));
    ground.write(MANIFEST, &manifest.to_string())?;
    Ok(true)
}

fn no_tests(ground: &Ground<'_>) -> Result<bool, GateError> {
    let applies = ground.has(MANIFEST);
    if applies {
        let jest = "module.exports = { testMatch: ['<rootDir>/none'], passWithNoTests: true };\n";
        ground.write("jest.config.js", jest)?;
        let vitest = "export default { test: { include: ['none'], passWithNoTests: true } };\n";
        ground.write("vitest.config.mjs", vitest)?;
    }
    Ok(applies)
}
