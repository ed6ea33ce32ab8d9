//! Small tasks of three kinds of project, with their own tools.

use super::{plan, write};
use crate::support::World;
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};

/// A task, its project, what a planner makes of it, and what does it.
struct Real {
    task: &'static str,
    files: &'static [(&'static str, &'static str)],
    gate: String,
    frozen: &'static str,
    check: &'static str,
    line: &'static str,
    /// What the agent does in each pass.
    passes: [&'static str; 2],
}

/// Runs the task and expects it green in the second pass.
fn goes_to_green(real: &Real) {
    let world = World::git();
    world.run(["init", "--run"]).rc(0);
    write(&world, "TASK.md", real.task);
    for (path, text) in real.files {
        let path = world.project().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    fs::write(world.rec("gate"), &real.gate).unwrap();
    world.role("plan", "cat \"$REC/gate\" >scripts/verify.sh");
    world.says(
        "plan",
        plan(&json!({
            "plan": [{"item": real.line, "check": real.check}],
            "covers": [{"line": real.line, "check": 0}],
            "frozen": [real.frozen],
        })),
    );
    let [first, second] = real.passes;
    world.role(
        "implement",
        &format!("case $n in 1) {first};; *) {second};; esac"),
    );
    let ran = world.run(["run"]).rc(0);
    assert!(ran.out.contains("outcome: green\n"), "{ran:#?}");
    assert!(ran.out.contains("passes: 2 of 10\n"), "{ran:#?}");
    assert!(!ran.out.contains("no check covers"), "{ran:#?}");
}

/// The folder of the toolchain that runs the tests.
fn toolchain() -> PathBuf {
    let cargo = std::env::var_os("CARGO").expect("cargo runs the tests");
    Path::new(&cargo).parent().unwrap().to_owned()
}

// rows: G-01, G-07, G-21
#[test]
fn a_rust_project_goes_to_green() {
    goes_to_green(&Real {
        task: "# Add\n\n`add` returns the sum.\n\n## Done when\n\n- `cargo test` passes\n",
        files: &[
            (
                "Cargo.toml",
                "[package]\nname = \"add\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n",
            ),
            (".gitignore", "target\n"),
            (
                "src/lib.rs",
                "pub fn add(_: u32, _: u32) -> u32 {\n    0\n}\n",
            ),
            (
                "tests/add.rs",
                "#[test]\nfn two_and_three_are_five() {\n    assert_eq!(add::add(2, 3), 5);\n}\n",
            ),
        ],
        gate: format!(
            "#!/bin/bash\nexport PATH=\"{}:/usr/local/bin:/usr/bin:/bin\"\n\
             export CARGO_HOME=\"$PWD/target/home\"\nexec cargo test --offline --quiet\n",
            toolchain().display()
        ),
        frozen: "tests/add.rs",
        check: "cargo test",
        line: "`cargo test` passes",
        passes: [
            "echo 'pub fn add(a: u32, b: u32) -> u32 { a * b }' >src/lib.rs",
            "echo 'pub fn add(a: u32, b: u32) -> u32 { a + b }' >src/lib.rs",
        ],
    });
}

// rows: G-01, G-07, G-21
#[test]
fn a_python_project_goes_to_green() {
    if !Path::new("/usr/bin/python3").exists() {
        println!("skipped: no /usr/bin/python3 here");
        return;
    }
    goes_to_green(&Real {
        task: "# Slug\n\nA title becomes a slug.\n\n## Done when\n\n1. the unit tests pass\n",
        files: &[
            ("slug.py", "def slug(title):\n    return title\n"),
            (
                "test_slug.py",
                "import unittest\nfrom slug import slug\n\nclass Slug(unittest.TestCase):\n    def test_words(self):\n        self.assertEqual(slug('A b'), 'a-b')\n",
            ),
        ],
        gate: "#!/bin/bash\nexec /usr/bin/python3 -B -m unittest -q test_slug\n".to_owned(),
        frozen: "test_slug.py",
        check: "python3 -m unittest test_slug",
        line: "the unit tests pass",
        passes: [
            "printf 'def slug(title):\\n    return title.lower()\\n' >slug.py",
            "printf 'def slug(title):\\n    return \"-\".join(title.lower().split())\\n' >slug.py",
        ],
    });
}

// rows: G-01, G-07, G-21
#[test]
fn a_shell_project_goes_to_green() {
    goes_to_green(&Real {
        task: "# Sum\n\n`bin/sum` prints the sum of its arguments.\n\n## Done when\n\n- `bin/sum 1 2 3` prints 6, and `bin/sum` 0\n",
        files: &[
            ("bin/sum", "echo nothing yet\n"),
            (
                "tests/sum.sh",
                "[ \"$(sh bin/sum 1 2 3)\" = 6 ] || { echo 'sum of three'; exit 1; }\n[ \"$(sh bin/sum)\" = 0 ] || { echo 'sum of none'; exit 1; }\n",
            ),
        ],
        gate: "#!/bin/bash\nset -e\n. tests/sum.sh\n".to_owned(),
        frozen: "tests/sum.sh",
        check: "tests/sum.sh",
        line: "`bin/sum 1 2 3` prints 6, and `bin/sum` 0",
        passes: [
            "echo 'echo $(($1+$2+$3))' >bin/sum",
            "echo 't=0; for n; do t=$((t+n)); done; echo $t' >bin/sum",
        ],
    });
}
