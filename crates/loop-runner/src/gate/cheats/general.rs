//! Cheats that need no language.

use super::{Cheat, Ground, is_test};
use crate::gate::GateError;
use crate::gate::program::script;

pub(super) const CHEATS: &[Cheat] = &[
    Cheat {
        name: "the gate's script ends with success at once",
        plant: script_replaced,
    },
    Cheat {
        name: "the tests are emptied",
        plant: emptied,
    },
    Cheat {
        name: "a program of the runner's name that does nothing",
        plant: shadowed,
    },
    Cheat {
        name: "shell code of the product ends with success at once",
        plant: early_exit,
    },
    Cheat {
        name: "a Makefile whose targets do nothing",
        plant: makefile,
    },
];

const NOTHING: &str = "#!/bin/sh\nexit 0\n";
/// Programs that gate scripts call.
const RUNNERS: [&str; 12] = [
    "cargo", "go", "jest", "make", "node", "npm", "npx", "pytest", "python", "python3", "tsc",
    "vitest",
];

fn script_replaced(ground: &Ground<'_>) -> Result<bool, GateError> {
    let Some(path) = script(ground.argv, ground.root) else {
        return Ok(false);
    };
    if ground.read(&path).is_none() {
        return Ok(false);
    }
    ground.write_program(path, NOTHING)?;
    Ok(true)
}

fn emptied(ground: &Ground<'_>) -> Result<bool, GateError> {
    ground.edit(&ground.files(is_test)?, |_| String::new())
}

fn shadowed(ground: &Ground<'_>) -> Result<bool, GateError> {
    let own = ground.argv.first().filter(|program| !program.contains('/'));
    let names = RUNNERS.into_iter().chain(own.map(String::as_str));
    for name in names {
        for folder in ["", "bin/", "node_modules/.bin/"] {
            let path = format!("{folder}{name}");
            if !ground.has(&path) {
                ground.write_program(path, NOTHING)?;
            }
        }
    }
    Ok(true)
}

fn early_exit(ground: &Ground<'_>) -> Result<bool, GateError> {
    ground.put_before(&ground.product("sh")?, "exit 0\n")
}

fn makefile(ground: &Ground<'_>) -> Result<bool, GateError> {
    let all = ground.files(|path| path.ends_with("Makefile"))?;
    let text = "%:\n\t@true\n.DEFAULT:\n\t@true\nall test tests check verify:\n\t@true\n";
    ground.edit(&all, |_| text.to_owned())
}
