//! The recipes of the README, step by step, against stubs of their programs that
//! print what the real ones print.

use crate::support::{World, verdict};
use serde_json::{Value, json};
use std::fs;
use std::process::Command;

const README: &str = include_str!("../../../README.md");

/// What a recipe's program prints, and what comes of its first item.
struct Recipe {
    program: &'static str,
    file: &'static str,
    printed: &'static str,
    id: &'static str,
    title: &'static str,
}

const RECIPES: [Recipe; 2] = [
    Recipe {
        program: "gh",
        file: include_str!("../../../templates/sources/github-issues/work_source.json"),
        printed: include_str!("../../../crates/loop-worksource/tests/recorded/gh-issue-list.json"),
        id: "7",
        title: "\u{dc}bersetzung: \"Speichern\" & <Abbrechen>",
    },
    Recipe {
        program: "bd",
        file: include_str!("../../../templates/sources/beads/work_source.json"),
        printed: include_str!("../../../crates/loop-worksource/tests/recorded/bd-ready.json"),
        id: "app-9qz.1",
        title: "Sessions outlive a password change",
    },
];

/// Returns the blocks of the README's three steps that are in a language.
fn blocks(language: &str) -> Vec<String> {
    let (_, steps) = README
        .split_once("\n### An issue tracker in three steps\n")
        .unwrap();
    let steps = steps.split("\n### ").next().unwrap();
    let mut blocks = steps.split("```");
    blocks.next();
    blocks
        .step_by(2)
        .filter_map(|block| block.strip_prefix(language)?.strip_prefix('\n'))
        .map(str::to_owned)
        .collect()
}

/// Runs a block as a shell would.
fn shell(world: &World, block: &str) -> String {
    let path = world.root().join("bin/step");
    fs::write(&path, format!("set -eu\n{block}")).unwrap();
    let mut step = Command::new("/bin/sh");
    step.env_clear();
    let command = world.command([""; 0]);
    step.envs(
        command
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    step.arg(&path).current_dir(world.project());
    let run = world.finish(step).rc(0);
    fs::remove_file(path).unwrap();
    run.out
}

// rows: S-01
// cases: 148
#[test]
fn the_three_steps_of_the_readme_end_in_a_tick_on_the_first_item() {
    let recipes = blocks("json");
    assert_eq!(recipes.len(), RECIPES.len());
    let steps = blocks("sh");
    let [create, tick] = &steps[..] else {
        panic!("not two steps: {steps:?}")
    };
    for (text, recipe) in recipes.iter().zip(RECIPES) {
        let world = World::git();
        world.link_loop();
        fs::write(world.rec("printed"), recipe.printed).unwrap();
        let stub = "#!/bin/sh\nprintf '%s\\n' \"$@\" >>\"$REC/stub\"\n\
                    [ \"$2\" = close ] || cat \"$REC/printed\"\n";
        world.program(recipe.program, stub);
        world.says("verify", verdict(true, 1.0, ""));

        shell(&world, create);
        let path = world.data("loops/issues/loop.json");
        let mut config: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        let block: Value = serde_json::from_str(&format!("{{{text}}}")).unwrap();
        let shipped: Value = serde_json::from_str(recipe.file).unwrap();
        assert_eq!(block["work_source"], shipped, "{}", recipe.program);
        config["work_source"] = block["work_source"].clone();
        fs::write(&path, config.to_string()).unwrap();

        let said = shell(&world, tick);
        assert!(said.contains(recipe.title), "{said}");
        let names = super::tasks(&world);
        let [name] = &names[..] else {
            panic!("not one task: {names:?}")
        };
        let shown = world.run(["task", "show", name, "--json"]).rc(0).json();
        assert_eq!(shown["task"]["origin"]["id"], recipe.id);
        assert_eq!(shown["task"]["title"], recipe.title);
        assert_eq!(shown["task"]["phase"], "complete");
        assert_eq!(world.roles(), ["implement", "verify"]);
        let asked = fs::read_to_string(world.rec("stub")).unwrap();
        let argument = |argument: &Value| format!("{}\n", argument.as_str().unwrap());
        let command: String = shipped["command"].as_array().unwrap()[1..]
            .iter()
            .map(argument)
            .collect();
        assert!(asked.starts_with(&command), "{asked}");
        let closes = shipped["done_command"] != json!(null);
        assert_eq!(asked.contains(&format!("close\n{}\n", recipe.id)), closes);
    }
}
