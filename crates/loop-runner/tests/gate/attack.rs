//! What a gate accepts, tried out.

use crate::world::{ACCEPT, FILES, World, write};
use loop_core::gate::Start;
use loop_runner::gate::{Answer, Attack, attack, first_run};
use loop_runner::holder::Wish;
use serde_json::{Value, json};

fn tried(world: &World) -> Attack {
    let started = first_run(&world.context(), &[], "start", &mut || Wish::GoOn).unwrap();
    assert!(matches!(started.start, Start::Red { .. }), "{started:?}");
    attack(&world.context(), &started.armed, "attack", &mut || {
        Wish::GoOn
    })
    .unwrap()
}

fn answers(attack: &Attack) -> Vec<(&str, Answer)> {
    let attempts = attack.attempts.iter();
    attempts
        .map(|attempt| (attempt.cheat, attempt.answer))
        .collect()
}

const SCRIPT: &str = "the gate's script ends with success at once";
const EMPTIED: &str = "the tests are emptied";
const SHADOWED: &str = "a program of the runner's name that does nothing";
const FORGED: &str = "code of the product prints that all tests passed, and ends them";
const EARLY: &str = "shell code of the product ends with success at once";

// rows: D-13
// cases: 120, 121
#[test]
fn the_answers_depend_on_what_is_frozen_and_where_the_gate_runs() {
    use Answer::{Accepted, Red, Refused};
    let nothing: Value = json!({"command": ["sh", "-c", "sh tests/run.sh > /dev/null"]});
    let world = World::new(nothing);
    assert_eq!(
        answers(&tried(&world)),
        [(EMPTIED, Accepted), (SHADOWED, Red), (EARLY, Accepted)]
    );
    let world = World::new(json!({"command": ["sh", "tests/run.sh"], "frozen": ["tests"]}));
    let attack = tried(&world);
    assert_eq!(
        answers(&attack),
        [
            (SCRIPT, Refused),
            (EMPTIED, Refused),
            (SHADOWED, Red),
            (EARLY, Red),
            (FORGED, Accepted)
        ]
    );
    assert_eq!(attack.accepted(), 1);
    assert_eq!(attack.level.number(), 1);
    assert_eq!(attack.attempts[0].why, "tests/run.sh was changed");

    let mut world = World::new(json!({"command": ["true"]}));
    let root = world.root();
    write(&root, "overlay/accept/check.sh", ACCEPT);
    world.configure(json!({"command": ["sh", "accept/check.sh"], "overlay": root.join("overlay")}));
    let attack = tried(&world);
    assert_eq!((attack.accepted(), attack.level.number()), (0, 3));
    assert_eq!(world.checkouts().len(), 0);
}

// rows: D-13
// cases: 121
#[test]
fn each_ecosystem_has_its_cheats_and_all_of_them_are_planted() {
    let files = [
        FILES,
        &[
            ("Cargo.toml", "[package]\nname = \"x\"\n"),
            ("src/lib.rs", "pub fn f() {}\n"),
            ("tests/it.rs", "#[test]\nfn t() {}\n"),
            ("pkg/a.py", "x = 1\n"),
            ("pkg/test_a.py", "def test_a(): pass\n"),
            ("package.json", "{\"scripts\": {\"test\": \"jest\"}}"),
            ("index.js", "module.exports = 1;\n"),
            ("go.mod", "module example.org/x\n"),
            ("x.go", "package x\n"),
            ("Makefile", "test:\n\tfalse\n"),
        ],
    ]
    .concat();
    let world = World::with_files(json!({"command": ["sh", "-c", "exit 1"]}), &files);
    let attack = tried(&world);
    assert_eq!(attack.attempts.len(), 17, "{:#?}", answers(&attack));
    assert!(
        attack
            .attempts
            .iter()
            .all(|attempt| attempt.answer == Answer::Red)
    );
    // A gate that looks at nothing but whether a file is there accepts a lot.
    let looks = "test -e conftest.py -o -e pytest.ini -o -e .cargo/config.toml -o -e zz_exit.go";
    let world = World::with_files(json!({"command": ["sh", "-c", looks]}), &files);
    assert_eq!(tried(&world).accepted(), 4);
}
