//! Where a prompt comes from, and what its tokens become.

use crate::support::{World, verdict};
use serde_json::{Value, json};
use std::fs;

const MARKER: &str = " ...[truncated]";

fn told(world: &World) -> Value {
    world.says("verify", verdict(true, 1.0, ""));
    world.tick()
}

// scenarios: 3
// rows: K-11, K-12, K-13, K-14, K-16, K-17
// cases: 65
#[test]
fn long_values_are_cut_exactly_and_at_the_limit_not_at_all() {
    for (over, marker) in [(1, MARKER), (0, "")] {
        let world = World::plain().with(|config| {
            config["acceptance_criteria"] = "x".repeat(8_000 + over).into();
        });
        fs::write(
            world.in_loop("impl.md"),
            "b={task_brief} c={acceptance_criteria} h={next_hint}",
        )
        .unwrap();
        fs::write(
            world.data("tasks/t1/RESEARCH.md"),
            "é".repeat(16_000 + over),
        )
        .unwrap();
        world.says_at("verify", 1, verdict(false, 0.4, &"y".repeat(4_000 + over)));
        world.tick();
        told(&world);
        let expected = format!(
            "b={}{marker} c={}{marker} h={}{marker}",
            "é".repeat(16_000),
            "x".repeat(8_000),
            "y".repeat(4_000)
        );
        assert!(
            world.output("tick2-implement-prompt.md") == expected,
            "{over} over"
        );
    }
}

// rows: K-18
// cases: 65
#[test]
fn what_an_agent_did_arrives_whole() {
    let world = World::plain().with_loop();
    let long = format!("{}\u{1F6E1}", "a".repeat(99_999));
    world.says("implement", &long);
    told(&world);
    assert!(world.output("tick1-verify-prompt.md") == format!("V art=<{long}> hint=[]"));
}

// scenarios: 16
// rows: P-23, P-40, H-30
// cases: 59
#[test]
fn a_value_is_never_read_as_a_template() {
    let brief = "please print {verdict} and {cwd} and {{next_hint}} and {fence}";
    let world = World::plain().with_loop();
    fs::write(world.data("tasks/t1/RESEARCH.md"), brief).unwrap();
    world.says("implement", "{task_brief} {{current_task}}\n");
    told(&world);
    let prompt = world.output("tick1-implement-prompt.md");
    assert!(prompt.contains(&format!("brief={brief};")), "{prompt}");
    let prompt = world.output("tick1-verify-prompt.md");
    assert!(
        prompt.contains("art=<{task_brief} {{current_task}}\n>"),
        "{prompt}"
    );
}

// scenarios: 17
// rows: P-05, P-06, H-11, H-12, H-13
#[test]
fn a_missing_prompt_is_told_of_and_the_tick_goes_on() {
    for (harness, argv) in [
        (
            json!({"command": ["rec", "{prompt}"]}),
            vec!["rec", "nope.md"],
        ),
        (json!({}), vec!["opencode", "run", "--dir", "CWD", ""]),
    ] {
        let world = World::plain().with(|config| {
            config["harness"] = harness;
            config["roles"]["implement"]["prompt"] = "nope.md".into();
        });
        world.says("verify", verdict(true, 1.0, ""));
        let run = world.run(["tick", "L"]).rc(0);
        assert!(
            run.err
                .lines()
                .any(|line| line.starts_with("warning: ") && line.contains("nope.md")),
            "{run:#?}"
        );
        let log = world.log();
        assert!(
            log.lines()
                .any(|line| line.contains("WARNING") && line.contains("nope.md")),
            "{log}"
        );
        let cwd = world.project().to_str().unwrap();
        let argv: Vec<_> = argv
            .iter()
            .map(|element| if *element == "CWD" { cwd } else { element })
            .collect();
        assert_eq!(world.calls()[0].argv, argv);
        assert!(!world.in_loop("outputs/tick1-implement-prompt.md").exists());
        assert_eq!(world.roles(), ["implement", "verify", "orchestrate"]);
    }
}

// scenarios: 17
// rows: P-02, P-03, P-04, P-30
#[test]
fn a_prompt_is_looked_for_in_the_loop_and_then_in_the_home() {
    let world = World::plain().with(|config| {
        config["roles"]["implement"]["prompt"] = "nope.md".into();
    });
    let prompts = world.home().join(".automaton/prompts");
    fs::create_dir_all(&prompts).unwrap();
    fs::write(prompts.join("nope.md"), "from the home").unwrap();
    fs::create_dir(world.in_loop("nope.md")).unwrap();
    told(&world);
    assert_eq!(
        world.output("tick1-implement-prompt.md"),
        "from the home",
        "a folder is no prompt"
    );
    fs::remove_dir(world.in_loop("nope.md")).unwrap();
    fs::write(world.in_loop("nope.md"), "from the loop").unwrap();
    told(&world);
    assert_eq!(world.output("tick2-implement-prompt.md"), "from the loop");
}

// rows: P-06, U-15
#[test]
fn a_role_without_a_prompt_is_called_with_empty_text() {
    let world = World::plain().with(|config| {
        config["roles"] = json!({"implement": null, "verify": {}, "orchestrate": null});
        config["harness"]["command"] = json!(["rec", "{prompt}", "{prompt_content}"]);
    });
    assert_eq!(told(&world)["outcome"], "pass");
    for call in world.calls() {
        assert_eq!(call.argv, ["rec", "", ""]);
    }
    assert_eq!(
        world.roles(),
        ["implement", "verify"],
        "orchestrate is not called"
    );
    assert_eq!(world.phase("t1"), "spec", "the engine's own decision");
    assert!(world.log().contains("WARNING"), "{}", world.log());
}

// rows: P-33, P-17
#[test]
fn outputs_that_cannot_be_written_stop_the_tick_before_anything_runs() {
    let world = World::plain().with_loop();
    fs::write(world.in_loop("outputs"), "a file").unwrap();
    let told = world.run(["tick", "L", "--json"]).rc(1).json();
    assert_eq!(told["outcome"], "error");
    assert_eq!(told["reason"], "outputs_unwritable");
    assert!(world.calls().is_empty());
    fs::remove_file(world.in_loop("outputs")).unwrap();
    world.says("verify", verdict(true, 1.0, ""));
    assert_eq!(world.tick()["outcome"], "pass");
}

// rows: P-34
// cases: 65, 155
#[test]
fn bytes_that_are_no_text_are_replaced_and_told_of() {
    let world = World::plain().with_loop();
    world.says("implement", b"a\xffb\n");
    told(&world);
    assert!(
        world
            .output("tick1-verify-prompt.md")
            .contains("art=<a\u{fffd}b\n>")
    );
    let kept = fs::read(world.in_loop("outputs/tick1-implement-output.md")).unwrap();
    assert_eq!(kept, b"a\xffb\n", "the file keeps the bytes");
    assert!(world.log().contains("WARNING"), "{}", world.log());
}

// rows: P-07, P-20, P-29
#[test]
fn a_prompt_arrives_byte_for_byte_and_its_file_stays() {
    let text = "no tokens here\r\nand no newline at the end";
    let world = World::plain().with_loop();
    fs::write(world.in_loop("impl.md"), text).unwrap();
    told(&world);
    assert_eq!(world.output("tick1-implement-prompt.md"), text);
    assert_eq!(fs::read_to_string(world.in_loop("impl.md")).unwrap(), text);
}

// rows: K-20, P-27
#[test]
fn a_token_that_a_role_may_not_see_stays_as_it_is_written() {
    let world = World::plain().with_loop();
    fs::write(
        world.in_loop("impl.md"),
        "{verdict}|{artifact_content}|{next_hint}",
    )
    .unwrap();
    fs::write(
        world.in_loop("orch.md"),
        "{task_brief} {acceptance_criteria} {next_hint} {current_phase}",
    )
    .unwrap();
    told(&world);
    assert_eq!(world.output("tick1-implement-prompt.md"), "{verdict}||");
    assert_eq!(
        world.output("tick1-orchestrate-prompt.md"),
        "{task_brief} {acceptance_criteria} {next_hint} research"
    );
}

// rows: K-02, K-10
#[test]
fn the_brief_is_the_research_else_the_spec_else_nothing() {
    let world = World::plain().with_loop();
    fs::remove_file(world.data("tasks/t1/RESEARCH.md")).unwrap();
    fs::write(world.in_loop("impl.md"), "[{task_brief}] [{next_hint}]").unwrap();
    world.says(
        "verify",
        "{\"pass\":false,\"score\":0.1,\"next_hint\":null}",
    );
    world.tick();
    assert_eq!(world.output("tick1-implement-prompt.md"), "[] []");
    fs::write(world.data("tasks/t1/SPEC.md"), "the spec").unwrap();
    world.tick();
    assert_eq!(world.output("tick2-implement-prompt.md"), "[the spec] []");
}

// rows: P-44
// cases: 148
#[test]
fn the_fence_is_new_in_every_tick_and_for_everybody_who_reads_a_report() {
    let world = World::plain().with_loop();
    for name in ["impl.md", "ver.md", "orch.md"] {
        fs::write(world.in_loop(name), "{fence}").unwrap();
    }
    told(&world);
    told(&world);
    let fence = |tick: u32, role: &str| world.output(&format!("tick{tick}-{role}-prompt.md"));
    // The implementer knows its own, so it must be no one else's.
    let mut all = vec![
        fence(1, "implement"),
        fence(1, "verify"),
        fence(1, "orchestrate"),
        fence(2, "implement"),
        fence(2, "verify"),
    ];
    for fence in &all {
        assert!(
            fence.len() == 16 && fence.bytes().all(|byte| byte.is_ascii_hexdigit()),
            "{fence}"
        );
    }
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 5);
    let shown = world.run(["prompt", "render", "L", "implement"]).rc(0);
    assert_eq!(shown.out, "0".repeat(16));
    assert!(shown.err.contains("zeros"), "{shown:#?}");
}
