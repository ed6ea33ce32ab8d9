//! A malformed configuration is refused before anything runs: with its place,
//! its key, and what to do.

use crate::support::World;
use serde_json::{Value, json};
use std::fs;

/// Marks where the fault has to be reported; it is not part of the text.
const MARK: char = '»';

/// Returns line and column of the mark.
fn place(marked: &str) -> String {
    let before = &marked[..marked.find(MARK).unwrap()];
    let line = before.rsplit('\n').next().unwrap();
    format!(
        "{}:{}",
        before.matches('\n').count() + 1,
        line.chars().count() + 1
    )
}

/// Puts one fragment into an otherwise good configuration, on its third line.
fn around(fragment: &str) -> String {
    format!("{{\n  \"name\": \"L\", \"roles\": {{}},\n  {fragment}\n}}")
}

/// A configuration with its mark; the key; what the message says to do.
type Malformed = (String, &'static str, &'static str);

#[rustfmt::skip]
fn malformed_configurations() -> Vec<Malformed> {
    vec![
        ("»".into(), "", "the file is empty; write an object with at least `name` and `roles`"),
        ("»[]".into(), "", "expected an object, found an empty array"),
        ("»null".into(), "", "expected an object"),
        ("»{}".into(), "name", "missing key; add it"),
        (r#"»{"name": "L"}"#.into(), "roles", "missing key; add it"),
        ("»name: L".into(), "", "write plain JSON"),
        (r#"{"name": "L", "roles": {}»"#.into(), "", "restore it or close what is open"),
        (r#"{"name": "L", "roles": {},»}"#.into(), "", "no trailing commas"),
        (r#"{"name": "L", "roles": {}} »{}"#.into(), "", "trailing characters"),
        ("{»// why\n}".into(), "", "no comments"),
        (r#"{"name": »"../x", "roles": {}}"#.into(), "name", "../x"),
        (r#"{"name": »"", "roles": {}}"#.into(), "name", "start with a letter or digit"),
        (around(r#"»"brake": {"max_iterations": 3}"#), "brake", "did you mean brakes?"),
        (around(r#"»"max_iterations": 3"#), "max_iterations", "did you mean brakes.max_iterations?"),
        (around(r#""brakes": {»"max_iteratons": 3}"#), "brakes.max_iteratons", "did you mean max_iterations?"),
        (around(r#""brakes": {"max_iterations": 3, »"max_iterations": 4}"#), "brakes.max_iterations", "keep one of the two"),
        (around(r#""brakes": {"max_iterations": »0}"#), "brakes.max_iterations", "a whole number from 1"),
        (around(r#""brakes": {"max_iterations": »-1}"#), "brakes.max_iterations", "a whole number from 1"),
        (around(r#""brakes": {"max_iterations": »08}"#), "brakes.max_iterations", "plain decimals"),
        (around(r#""brakes": {"max_iterations": »1e3}"#), "brakes.max_iterations", "a whole number"),
        (around(r#""brakes": {"max_iterations": »3.0}"#), "brakes.max_iterations", "a whole number"),
        (around(r#""brakes": {"max_iterations": »" 5 "}"#), "brakes.max_iterations", "or \"unlimited\""),
        (around(r#""brakes": {"max_iterations": »18446744073709551616}"#), "brakes.max_iterations", "a whole number"),
        (around(r#""brakes": {"max_iterations": »"unlimited", "max_wall_seconds": "unlimited"}"#), "brakes.max_iterations", "would never stop"),
        (around(r#""brakes": {"score_plateau_window": »1}"#), "brakes.score_plateau_window", "0"),
        (around(r#""brakes": {"min_score": »1.5}"#), "brakes.min_score", "expected"),
        (around(r#""brakes": {"max_harness_failures": »0}"#), "brakes.max_harness_failures", "from 1"),
        (around(r#""brakes": {"max_ticks_per_day": »0}"#), "brakes.max_ticks_per_day", "from 1"),
        (around(r#""brakes": {"max_cost_usd": »0}"#), "brakes.max_cost_usd", "0"),
        (around(r#""brakes": {"max_cost_usd": »"$5"}"#), "brakes.max_cost_usd", "dollars as a plain decimal"),
        (around(r#""brakes": {"max_cost_usd": »-1}"#), "brakes.max_cost_usd", "not negative"),
        (around(r#""brakes": {"max_wall_seconds": »0}"#), "brakes.max_wall_seconds", "from 1"),
        (around(r#""brakes": {"on_trip": »"park"}"#), "brakes.on_trip", "use \"halt\""),
        (around(r#""harness": {"command": »"opencode run"}"#), "harness.command", "expected an array"),
        (around(r#""harness": {"command": [»"", "x"]}"#), "harness.command[0]", "name one"),
        (around(r#""harness": {"command": ["x", »1]}"#), "harness.command[1]", "expected"),
        (around(r#""harness": {"timeout_seconds": »0}"#), "harness.timeout_seconds", "from 1"),
        (around(r#""harness": {»"timeout": 60}"#), "harness.timeout", "did you mean timeout_seconds?"),
        (around(r#""harness": {"prompt_via": »"pipe"}"#), "harness.prompt_via", "use one of"),
        (around(r#""acceptance_criteria": [»1, 2]"#), "acceptance_criteria[0]", "expected"),
        (around(r#""acceptance_criteria": »{"a": 1}"#), "acceptance_criteria", "expected"),
        (around(r#""work_source": {»"knd": "single"}"#), "work_source.knd", "did you mean kind?"),
        (around(r#""work_source": »"single""#), "work_source", "expected an object"),
        (around(r#""work_source": {"kind": "backlog", "area": »"../x"}"#), "work_source.area", ".."),
        (around(r#""work_source": »{"kind": "command"}"#), "work_source.command", "missing key"),
        (around(r#""blast_radius": {»"filescope": []}"#), "blast_radius.filescope", "did you mean file_scope?"),
        (around(r#""blast_radius": {"file_scope": [»"/etc"]}"#), "blast_radius.file_scope[0]", "/etc"),
        (around(r#""blast_radius": {"file_scope": [»"a/../../b"]}"#), "blast_radius.file_scope[0]", ".."),
        (around(r#""blast_radius": {"use_worktree": »"yes"}"#), "blast_radius.use_worktree", "expected"),
        (around(r#""schedule": {"interval_seconds": »0}"#), "schedule.interval_seconds", "from 1"),
        (around(r#""schedule": {"interval_seconds": 60, "cron": »"* * * * *"}"#), "schedule.cron", "not both"),
        (around(r#""phases": »[]"#), "phases", "name at least one"),
        (around(r#""phases": ["a", »"a"]"#), "phases[1]", "twice"),
        (around(r#""phases": ["a"], "approval_phases": [»"b"]"#), "approval_phases[0]", "use one of a"),
        (around(r#""notify": [{"on": ["done"], »"comand": ["x"]}]"#), "notify[0].comand", "did you mean command?"),
        (around(r#""gate": {"command": »"make test"}"#), "gate.command", "expected an array"),
        (around(r#"»"x": 1"#), "x", "use one of"),
    ]
}

// rows: B-04, B-20, H-39, K-05, L-15, W-10, X-10, S-27
// cases: 2, 3, 4
#[test]
fn a_malformed_configuration_is_refused_with_its_place_its_key_and_what_to_do() {
    let world = World::plain().with_loop();
    let records = fs::read(world.in_loop("events.jsonl")).unwrap();
    let mut wrong = Vec::new();
    for (marked, key, advice) in malformed_configurations() {
        let text = marked.replace(MARK, "");
        world.write_config(&text);
        let path = world.in_loop("loop.json");
        let key = if key.is_empty() {
            String::new()
        } else {
            format!("{key}: ")
        };
        let start = format!("{}:{}: {key}", path.display(), place(&marked));
        for args in [&["tick", "L"][..], &["validate", "L"]] {
            let run = world.run(args).rc(2);
            let error = run.error();
            assert_eq!(run.err.lines().count(), 1, "{run:#?}");
            if !(error.starts_with(&start) && error.contains(advice)) {
                wrong.push(format!("{text}\n{error}\n{start}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(world.calls().is_empty());
    assert_eq!(fs::read(world.in_loop("events.jsonl")).unwrap(), records);
}

// rows: W-10
// cases: 107
#[test]
fn a_configuration_that_is_no_text_is_refused() {
    let world = World::plain().with_loop();
    let path = world.in_loop("loop.json");
    for (bytes, said) in [
        (b"{\"name\": \"\xff\"}".to_vec(), "utf-8"),
        (vec![b' '; 1024 * 1024 + 1], "is longer than 1 MiB"),
        (vec![0; 4096], "1:1: "),
    ] {
        fs::write(&path, bytes).unwrap();
        let run = world.run(["tick", "L"]).rc(2);
        assert!(run.error().contains("loop.json"), "{run:#?}");
        assert!(run.error().contains(said), "{run:#?}");
    }
    fs::remove_file(&path).unwrap();
    assert!(world.run(["tick", "L"]).rc(2).error().contains("loop.json"));
    fs::create_dir(&path).unwrap();
    assert!(world.run(["tick", "L"]).rc(2).error().contains("loop.json"));
    assert!(world.calls().is_empty());
}

// rows: L-14, L-15
// cases: 115
#[test]
fn a_tick_for_a_program_tells_a_wrong_configuration_in_json_too() {
    let world = World::plain().with_loop();
    world.write_config(&around(r#""brakes": {"max_iterations": 0}"#));
    let told = world.run(["tick", "L", "--json"]).rc(2).json();
    assert_eq!(told["outcome"], "error");
    assert_eq!(told["reason"], "config");
    assert_eq!(told["exit"], 2);
    assert!(
        told["why"]
            .as_str()
            .unwrap()
            .contains("loop.json:3:32: brakes.max_iterations")
    );
    assert_eq!(told["next"]["needs"], "fix");
    assert!(
        told["do"].as_str().unwrap().contains("loop validate L"),
        "{told}"
    );
}

// rows: D-03
// cases: 4, 135
#[test]
fn a_limit_that_this_version_cannot_hold_is_refused_by_name() {
    let world = World::plain().with_loop();
    let shown = fs::read_to_string(world.in_loop("loop.json")).unwrap();
    let mut config: Value = serde_json::from_str(&shown).unwrap();
    config["blast_radius"] = json!({"sandbox": "on"});
    world.write_config(&config.to_string());
    let said = "not enforced by this version: blast_radius.sandbox";
    for command in ["tick", "validate"] {
        let run = world.run([command, "L"]).rc(2);
        assert!(run.error().contains(said), "{run:#?}");
    }
    assert!(world.calls().is_empty());
}

// rows: D-15
// cases: 133
#[test]
fn a_token_cap_that_cannot_hold_is_refused() {
    let world = World::plain().with(|config| config["brakes"]["max_tokens"] = json!(5));
    let run = world.run(["tick", "L"]).rc(2);
    let error = run.error();
    assert!(error.contains("brakes.max_tokens cannot hold"), "{error}");
    assert!(error.contains("give harness a profile"), "{error}");
    assert!(world.calls().is_empty());
}

// rows: D-15
// cases: 133
#[test]
fn a_cost_cap_that_cannot_hold_is_refused() {
    let world = World::plain().with(|config| config["brakes"]["max_cost_usd"] = json!(5));
    let run = world.run(["tick", "L"]).rc(2);
    let error = run.error();
    assert!(error.contains("brakes.max_cost_usd cannot hold"), "{error}");
    assert!(
        error.contains("set harness.cost_per_call_usd to an estimate"),
        "{error}"
    );
    assert!(world.calls().is_empty());
}
