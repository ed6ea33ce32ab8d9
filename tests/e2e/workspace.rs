//! What the repository itself promises.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

/// Returns the text of every Rust source below `path`.
fn sources(path: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(path).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            found.push((path.clone(), fs::read_to_string(path).unwrap()));
        }
    }
    found
}

// rows: W-01, W-02
#[test]
fn the_workspace_is_laid_out_as_it_was_asked_for() {
    for name in [
        "loop-core",
        "loop-prompts",
        "loop-worksource",
        "loop-runner",
        "loop-cli",
    ] {
        let manifest = read(&format!("crates/{name}/Cargo.toml"));
        assert!(manifest.contains(&format!("name = \"{name}\"")), "{name}");
    }
    for folder in ["prompts", "templates", "tests", "design"] {
        let mut entries = fs::read_dir(root().join(folder)).unwrap();
        assert!(entries.next().is_some(), "{folder} is empty");
    }
}

// rows: W-03, W-09
#[test]
fn the_packages_of_the_card_are_used_and_those_for_tests_only_there() {
    let manifests: Vec<_> = [
        "loop-core",
        "loop-prompts",
        "loop-worksource",
        "loop-runner",
        "loop-cli",
    ]
    .map(|name| read(&format!("crates/{name}/Cargo.toml")))
    .into();
    let split = |manifest: &String| {
        let (normal, dev) = manifest.split_once("[dev-dependencies]").unwrap();
        (normal.to_owned(), dev.to_owned())
    };
    let (normal, dev): (Vec<_>, Vec<_>) = manifests.iter().map(split).unzip();
    for package in [
        "serde",
        "serde_json",
        "handlebars",
        "gix",
        "thiserror",
        "clap",
    ] {
        let used = format!("\n{package}.workspace = true");
        assert!(normal.iter().any(|part| part.contains(&used)), "{package}");
    }
    for package in ["proptest", "assert_cmd"] {
        let used = format!("{package}.workspace = true");
        assert!(dev.iter().any(|part| part.contains(&used)), "{package}");
        assert!(!normal.iter().any(|part| part.contains(&used)), "{package}");
    }
}

// rows: W-04, H-18
#[test]
fn loop_core_touches_nothing_and_one_constant_names_a_harness() {
    for (path, text) in sources(&root().join("crates/loop-core/src")) {
        for world in [
            "std::fs",
            "std::process",
            "std::env",
            "std::net",
            "std::thread",
        ] {
            assert!(!text.contains(world), "{world} in {}", path.display());
        }
    }
    let named: BTreeSet<_> = [
        "loop-core",
        "loop-prompts",
        "loop-worksource",
        "loop-runner",
        "loop-cli",
    ]
    .into_iter()
    .flat_map(|name| sources(&root().join("crates").join(name).join("src")))
    .filter(|(_, text)| text.contains("opencode"))
    .map(|(path, _)| path.file_name().unwrap().to_owned())
    .collect();
    assert_eq!(Vec::from_iter(named), ["harness.rs"]);
    assert_eq!(
        read("crates/loop-core/src/harness.rs")
            .matches("opencode")
            .count(),
        1
    );
}

// rows: W-13
#[test]
fn the_changelog_tells_of_what_is_not_released_yet() {
    let changelog = read("CHANGELOG.md").to_lowercase();
    let (_, unreleased) = changelog.split_once("## [unreleased]").unwrap();
    for feature in ["worktree", "prompt", "demo"] {
        assert!(unreleased.contains(feature), "{feature}");
    }
}
