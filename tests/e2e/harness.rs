//! How a harness is called: which program, with which arguments, where.

use crate::support::{World, verdict};
use serde_json::{Value, json};
use std::fs;

/// A prompt with everything that a shell or a template language would act on.
const HOSTILE: &str = "it's \"quoted\" $HOME ${HOME} `touch pwned` $(touch pwned); touch pwned\n\
                       * ? ~ ! \\ %PATH% \u{1F6E1} ${{ secrets.X }} {{#if}} {\"pass\": bool} {unknown}\n";

fn passing(world: World) -> World {
    world.says("verify", verdict(true, 1.0, ""));
    world
}

// scenarios: 14
// rows: H-01, H-02, H-03, H-04, H-05, H-06, H-07, H-08, Q-42, Q-43, Q-47
#[test]
fn without_a_command_the_default_harness_gets_folder_and_text() {
    let harnesses = [
        None,
        Some(Value::Null),
        Some(json!({})),
        Some(json!({"command": []})),
        Some(json!({"command": null})),
        Some(json!({"prompt_var": "X"})),
    ];
    for harness in harnesses {
        let world = passing(World::plain().with(|config| {
            let config = config.as_object_mut().unwrap();
            match harness.clone() {
                Some(harness) => config.insert("harness".to_owned(), harness),
                None => config.remove("harness"),
            };
        }));
        assert_eq!(world.tick()["outcome"], "pass", "{harness:?}");
        let cwd = world.project().to_str().unwrap();
        for call in world.calls() {
            let prompt = world.output(&format!("tick1-{}-prompt.md", call.role));
            assert_eq!(call.argv, ["opencode", "run", "--dir", cwd, &prompt]);
        }
        assert_eq!(world.count("orchestrate"), 1);
    }
}

// scenarios: 15
// rows: H-09, H-10, H-15, H-17, P-21, P-26, Q-44, Q-46, Q-48
// cases: 58
#[test]
fn hostile_text_reaches_the_harness_as_one_unchanged_argument() {
    let world = passing(World::plain().with(|config| {
        config["harness"]["command"] = json!(["pi", "run", "--cwd", "{cwd}", "{prompt_content}"]);
    }));
    fs::write(world.in_loop("impl.md"), HOSTILE).unwrap();
    assert_eq!(world.tick()["outcome"], "pass");
    let calls = world.calls();
    let cwd = world.project().to_str().unwrap();
    assert_eq!(calls[0].argv, ["pi", "run", "--cwd", cwd, HOSTILE]);
    assert!(!world.project().join("pwned").exists());
}

// scenarios: 15
// rows: H-16, H-20, H-24, H-26, H-29, Q-49
#[test]
fn a_role_of_its_own_harness_gets_every_token_in_one_argument_each() {
    let world = passing(World::plain().with(|config| {
        config["roles"]["verify"]["harness"] = json!({"command": [
            "pi", "--m={prompt_content}", "{output}", "{artifact}", "{task_brief}"
        ]});
    }));
    assert_eq!(world.tick()["outcome"], "pass");
    let calls = world.calls();
    let text = format!("--m={}", world.output("tick1-verify-prompt.md"));
    let file = |name: &str| {
        world
            .in_loop(&format!("outputs/{name}"))
            .display()
            .to_string()
    };
    // The implementer must not be able to write the judge's answer beforehand.
    let output = calls[1].arg(2).to_owned();
    assert!(
        output.starts_with(&file("tick1-verify-written-")),
        "{output}"
    );
    let argv = [
        "pi",
        &text,
        &output,
        &file("tick1-implement-output.md"),
        "BRIEF",
    ];
    assert_eq!(calls[1].argv, argv);
    let others: Vec<_> = [&calls[0], &calls[2]]
        .map(|call| call.argv[0].clone())
        .into();
    assert_eq!(others, ["rec", "rec"]);
}

// rows: H-14, Q-45
#[test]
fn a_harness_may_read_the_prompt_from_its_file() {
    let world = passing(World::plain().with(|config| {
        config["roles"]["implement"]["harness"] = json!({"command": ["cat", "{prompt}"]});
    }));
    world.tick();
    assert_eq!(
        world.output("tick1-implement-output.md"),
        world.output("tick1-implement-prompt.md")
    );
}

// rows: H-16
#[test]
fn a_file_written_to_output_is_the_roles_output() {
    let world = passing(World::plain().with(|config| {
        config["harness"]["command"] = json!(["rec", "--out", "{output}"]);
    }));
    world.role("implement", "echo from the file >\"$2\"");
    world.tick();
    assert_eq!(world.output("tick1-implement-output.md"), "from the file\n");
    assert!(
        world
            .output("tick1-verify-prompt.md")
            .contains("art=<from the file\n>")
    );
}

// rows: H-21, H-24, H-25, H-27, H-28, H-30
#[test]
fn command_tokens_are_filled_once_and_unknown_ones_stay() {
    let world = World::plain().with(|config| {
        config["harness"] = json!({
            "command": [
                "rec", "{foo}", "{P}", "{task_brief}", "{acceptance_criteria}", "[{next_hint}]",
                "{current_task}/{current_phase}", "{verdict}", "plain", "{prompt_content}",
            ],
            "prompt_var": "P", "cwd_var": "C", "output_var": "O",
        });
    });
    fs::write(world.data("tasks/t1/RESEARCH.md"), "see {output} {cwd}").unwrap();
    world.says("verify", verdict(true, 1.0, "none"));
    world.tick();
    let calls = world.calls();
    let prompt = world.output("tick1-implement-prompt.md");
    assert!(prompt.contains("brief=see {output} {cwd};"), "{prompt}");
    assert_eq!(
        calls[0].argv[1..],
        [
            "{foo}",
            "{P}",
            "see {output} {cwd}",
            "- a\n- b",
            "[]",
            "t1/research",
            "{verdict}",
            "plain",
            prompt.as_str(),
        ]
    );
    // Orchestrate sees the verdict, and neither brief nor criteria.
    let shown: Value = serde_json::from_str(calls[2].arg(7)).unwrap();
    assert_eq!(shown["next_hint"], "none");
    assert_eq!(
        calls[2].argv[3..5],
        ["{task_brief}", "{acceptance_criteria}"]
    );
}

// rows: H-22, H-23, L-03
#[test]
fn only_a_declared_context_below_the_floor_stops_a_tick() {
    for (window, outcome) in [(8_000, "skipped"), (15_999, "skipped"), (16_000, "pass")] {
        let world = passing(World::plain().with(|config| {
            config["roles"]["implement"]["tier"] = "large".into();
            config["roles"]["verify"]["context_window"] = window.into();
        }));
        let told = world.tick();
        assert_eq!(told["outcome"], outcome, "{window}");
        if outcome == "skipped" {
            assert_eq!(told["skip_reason"], "context_floor");
            assert_eq!(world.run(["tick", "L", "--exit-code"]).code, 2);
            assert!(world.calls().is_empty());
        }
    }
}

// rows: H-32
#[test]
fn a_prompt_of_ten_kilobytes_fits_into_the_default_command() {
    let world = passing(World::plain().with(|config| config["harness"] = Value::Null));
    fs::write(world.in_loop("impl.md"), "x".repeat(10 * 1024)).unwrap();
    assert_eq!(world.tick()["outcome"], "pass");
    assert_eq!(world.calls()[0].arg(4).len(), 10 * 1024);
}

// rows: H-33
// cases: 50
#[test]
fn a_prompt_too_large_for_an_argument_is_told_before_anything_is_spent() {
    let world = passing(World::plain().with(|config| {
        config["roles"]["verify"]["harness"] = json!({"command": ["rec", "{prompt_content}"]});
    }));
    world.says("implement", "x".repeat(200 * 1024));
    let told = world.tick();
    assert_eq!(told["outcome"], "environment");
    assert_eq!(told["reason"], "prompt_too_large");
    assert!(told["do"].as_str().unwrap().contains("{prompt}"), "{told}");
    assert_eq!(told["iteration"], 0);
    assert_eq!(world.roles(), ["implement"]);

    // With the file the very same work is judged, and nothing is done again.
    world.configure(|config| {
        config["roles"]["verify"]["harness"]["command"] = json!(["rec", "{prompt}"]);
    });
    assert_eq!(world.tick()["outcome"], "pass");
    assert_eq!(world.roles(), ["implement", "verify", "orchestrate"]);
    let prompt = world.output("tick2-verify-prompt.md");
    assert!(prompt.len() > 200 * 1024, "{}", prompt.len());
}

// rows: H-33
// cases: 50
#[test]
fn the_longest_argument_that_the_system_takes_is_the_limit() {
    for (length, outcome) in [(131_071, "pass"), (131_072, "environment")] {
        let world = passing(World::plain().with(|config| config["harness"] = Value::Null));
        fs::write(world.in_loop("impl.md"), "x".repeat(length)).unwrap();
        assert_eq!(world.tick()["outcome"], outcome, "{length}");
        let called = usize::from(outcome == "pass");
        assert_eq!(world.count("implement"), called, "{length}");
    }
}

// rows: H-34
#[test]
fn a_nul_in_an_argument_is_told_before_anything_is_spent() {
    let world = World::plain().with(|config| {
        config["harness"]["command"] = json!(["rec", "{task_brief}"]);
    });
    fs::write(world.data("tasks/t1/RESEARCH.md"), "a\0b").unwrap();
    let told = world.tick();
    assert_eq!(told["outcome"], "environment");
    assert_eq!(told["reason"], "prompt_unsendable");
    assert_eq!(told["iteration"], 0);
    assert!(world.calls().is_empty());
}

// rows: H-10
#[test]
fn a_leading_dash_is_refused_by_the_default_and_warned_of_elsewhere() {
    let world = World::plain().with(|config| config["harness"] = Value::Null);
    fs::write(world.in_loop("impl.md"), "- do it").unwrap();
    let told = world.tick();
    assert_eq!(told["outcome"], "environment");
    assert_eq!(told["reason"], "prompt_unsendable");
    assert!(world.calls().is_empty());

    let world = passing(World::plain().with(|config| {
        config["harness"]["command"] = json!(["rec", "{prompt_content}"]);
    }));
    fs::write(world.in_loop("impl.md"), "- do it").unwrap();
    let run = world.run(["tick", "L"]).rc(0);
    assert!(
        run.err.contains("warning: the prompt starts with `-`"),
        "{run:#?}"
    );
    assert_eq!(world.calls()[0].arg(1), "- do it");
}

// rows: H-31, H-36, U-21
// cases: 51
#[test]
fn a_harness_has_its_folder_its_names_and_nothing_to_read() {
    let world = passing(World::plain().with_loop());
    world.role(
        "implement",
        "cat; echo careful >&2; env >\"$REC/env\"; echo >work.txt",
    );
    let mut command = world.command(["tick", "L"]);
    command
        .env("GIT_DIR", "/elsewhere")
        .env("AUTOMATON_TICK", "9");
    assert_eq!(world.finish(command).rc(0).code, 0);
    assert_eq!(world.output("tick1-implement-stderr.log"), "careful\n");
    let environment = fs::read_to_string(world.rec("env")).unwrap();
    let value = |name: &str| {
        let line = environment
            .lines()
            .find_map(|line| line.strip_prefix(&format!("{name}=")));
        line.map(str::to_owned)
    };
    let project = world.project().display().to_string();
    assert_eq!(value("AUTOMATON_LOOP").as_deref(), Some("L"));
    assert_eq!(value("AUTOMATON_ROLE").as_deref(), Some("implement"));
    assert_eq!(value("AUTOMATON_TICK").as_deref(), Some("1"));
    assert_eq!(value("AUTOMATON_PROJECT"), Some(project));
    let home = world.home().join(".automaton").display().to_string();
    assert_eq!(value("AUTOMATON_HOME"), Some(home));
    assert_eq!(value("USER").as_deref(), Some("ada"));
    assert!(!environment.lines().any(|line| line.starts_with("GIT_")));
}

// rows: H-18, H-19, H-41, G-32
#[test]
fn no_harness_vendor_or_model_is_known_to_the_engine() {
    let crates = concat!(env!("CARGO_MANIFEST_DIR"), "/../");
    let mut found = Vec::new();
    for name in [
        "loop-core",
        "loop-prompts",
        "loop-worksource",
        "loop-runner",
        "loop-cli",
    ] {
        search(&format!("{crates}{name}/src"), &mut found);
    }
    found.sort();
    // The scaffold of a run has files with names that the seeds give (row G-32):
    // they are written, and nothing depends on them.
    let mut known = vec!["harness.rs: opencode"];
    known.extend(["scaffold.rs: claude"; 5]);
    assert_eq!(found, known);
}

/// Lists the vendors that the sources below `folder` name, tests left out.
fn search(folder: &str, found: &mut Vec<String>) {
    const NAMES: [&str; 6] = ["opencode", "claude", "gpt", "sonnet", "gemini", "codex"];
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            search(path.to_str().unwrap(), found);
            continue;
        }
        let text = fs::read_to_string(&path).unwrap().to_lowercase();
        let product = text.split("#[cfg(test)]").next().unwrap();
        let file = path.file_name().unwrap().to_str().unwrap();
        if file == "tests.rs" {
            continue;
        }
        for name in NAMES {
            found.extend(product.matches(name).map(|_| format!("{file}: {name}")));
        }
    }
}
