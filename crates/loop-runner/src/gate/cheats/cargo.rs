//! Cheats for Rust projects.

use super::{Cheat, Ground};
use crate::gate::GateError;
use std::path::{Path, PathBuf};

pub(super) const CHEATS: &[Cheat] = &[
    Cheat {
        name: "Rust code of the product ends the tests with success",
        plant: early_exit,
    },
    Cheat {
        name: "a .cargo/config.toml whose runner does nothing",
        plant: runner,
    },
    Cheat {
        name: "a Cargo.toml that leaves the tests out",
        plant: no_tests,
    },
    Cheat {
        name: "a build script that takes the tests away",
        plant: build_script,
    },
];

/// Returns code that does `what` and ends the program with success, before
/// `main` of every program that it is linked into.
pub(super) fn first(what: &str) -> String {
    format!("\nextern \"C\" fn first() {{\n    {what}\n    std::process::exit(0)\n}}\n{USED}")
}

const USED: &str = "\
#[used]
#[cfg_attr(not(target_os = \"macos\"), unsafe(link_section = \".init_array\"))]
#[cfg_attr(target_os = \"macos\", unsafe(link_section = \"__DATA,__mod_init_func\"))]
static FIRST: extern \"C\" fn() = first;
";

const BUILD: &str = "\
fn main() {
    if let Ok(folder) = std::fs::read_dir(\"tests\") {
        for file in folder.flatten() {
            let _ = std::fs::write(file.path(), \"\");
        }
    }
}
";

fn early_exit(ground: &Ground<'_>) -> Result<bool, GateError> {
    let code = first("");
    ground.edit(&roots(ground)?, |content| format!("{content}{code}"))
}

/// Lists the files in which the product's crates begin.
pub(super) fn roots(ground: &Ground<'_>) -> Result<Vec<PathBuf>, GateError> {
    ground.files(|path| path.ends_with("src/lib.rs") || path.ends_with("src/main.rs"))
}

fn runner(ground: &Ground<'_>) -> Result<bool, GateError> {
    let applies = ground.has("Cargo.toml");
    if applies {
        let text = "[target.'cfg(all())']\nrunner = \"true\"\n";
        ground.write(".cargo/config.toml", text)?;
    }
    Ok(applies)
}

fn no_tests(ground: &Ground<'_>) -> Result<bool, GateError> {
    let manifests = ground.files(|path| path.ends_with("Cargo.toml"))?;
    ground.edit(&manifests, |content| {
        let package = "[package]\nautotests = false\n";
        let lib = "\n[lib]\ntest = false\ndoctest = false\n";
        let content = content.replacen("[package]\n", package, 1);
        if content.contains("[lib]") || !content.contains("[package]") {
            content
        } else {
            content + lib
        }
    })
}

fn build_script(ground: &Ground<'_>) -> Result<bool, GateError> {
    let applies = ground.read(Path::new("Cargo.toml")).is_some();
    if applies {
        ground.write("build.rs", BUILD)?;
    }
    Ok(applies)
}
