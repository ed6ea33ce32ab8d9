//! Builds the shipped harness profiles in: every file of `templates/harnesses/`, so
//! that another one needs no code.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("templates/harnesses");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "json")
        {
            files.push(path);
        }
    }
    files.sort();
    let lines: Vec<_> = files
        .iter()
        .map(|path| format!("    include_str!({path:?}),\n"))
        .collect();
    let list = format!("&[\n{}]\n", lines.concat());
    fs::write(Path::new(&env::var("OUT_DIR")?).join("harnesses.rs"), list)?;
    Ok(())
}
