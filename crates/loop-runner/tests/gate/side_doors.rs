//! Files besides the tests that decide what a test run means.

use crate::world::World;
use loop_runner::gate::side_doors;
use serde_json::json;

// rows: D-13
// cases: 121
#[test]
fn side_doors_are_listed_unless_they_are_frozen() {
    let files = [
        ("pytest.ini", "x"),
        ("tox.ini", "x"),
        ("pkg/conftest.py", "x"),
        ("jest.config.ts", "x"),
        ("package.json", "{}"),
        (".cargo/config.toml", "x"),
        ("build.rs", "x"),
        ("Makefile", "x"),
        (".config/nextest.toml", "x"),
        ("src/snapshots/a.snap", "x"),
        ("Cargo.toml", "x"),
        ("rust-toolchain.toml", "x"),
        ("sitecustomize.py", "x"),
        (".env.test", "x"),
        ("pyproject.toml", "[tool.pytest.ini_options]\n"),
        ("sub/pyproject.toml", "[project]\n"),
        ("setup.cfg", "[tool:pytest]\n"),
        ("src/lib.rs", "x"),
        ("config.toml", "x"),
        ("tests/a.rs", "x"),
        ("node_modules/x/package.json", "{}"),
    ];
    let gate = |frozen: serde_json::Value| json!({"command": ["true"], "frozen": frozen});
    let mut world = World::with_files(gate(json!([])), &files);
    let listed = |world: &World| -> Vec<_> {
        let doors = side_doors(&world.context()).unwrap();
        assert!(doors.iter().all(|door| !door.why.is_empty()));
        doors.into_iter().map(|door| door.path).collect()
    };
    let all = [
        ".cargo/config.toml",
        ".config/nextest.toml",
        ".env.test",
        "Cargo.toml",
        "Makefile",
        "build.rs",
        "jest.config.ts",
        "package.json",
        "pkg/conftest.py",
        "pyproject.toml",
        "pytest.ini",
        "rust-toolchain.toml",
        "setup.cfg",
        "sitecustomize.py",
        "src/snapshots/a.snap",
        "tox.ini",
    ];
    assert_eq!(listed(&world), all);
    world.configure(gate(json!([
        "**/conftest.py",
        ".cargo",
        "**/*.snap",
        "*.ini"
    ])));
    let frozen = [
        ".cargo/config.toml",
        "pkg/conftest.py",
        "src/snapshots/a.snap",
        "pytest.ini",
        "tox.ini",
    ];
    let left: Vec<_> = all
        .into_iter()
        .filter(|path| !frozen.contains(path))
        .collect();
    assert_eq!(listed(&world), left);
}
