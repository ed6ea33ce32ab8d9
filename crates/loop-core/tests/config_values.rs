//! Good configurations: what they mean, and that they can be written back.

use std::time::Duration;

use loop_core::Score;
use loop_core::config::{
    Config, Criteria, GatePlace, HarnessChoice, HarnessRef, OnTrip, Parsed, PromptVia, Sandbox,
    Watch, WorkSourceKind, WorktreeFor,
};
use serde_json::{Value, json};

/// Every key of the file at once, each with a value that is not its default.
const EVERYTHING: &str = r#"{
  "$schema": "https://example.org/loop.schema.json",
  "name": "nightly.2",
  "description": "Works through the backlog.",
  "work_source": {
    "kind": "command", "project": "~/.automaton/", "area": "core/api", "section": "Now", "task": "t-1",
    "command": ["list", ""], "done_command": ["close", "{id}"], "timeout_seconds": 5, "tick_when_done": false
  },
  "acceptance_criteria": ["one", "two"],
  "roles": {
    "plan": {"prompt": "plan.md"},
    "implement": {"prompt": "impl.md", "tier": "large", "context_window": 32000},
    "verify": {"prompt": "ver.md", "harness": ["second", {"profile": "third"}]},
    "orchestrate": {}
  },
  "harness": {
    "profile": "first", "command": ["agent", "{prompt}"], "prompt_via": "stdin", "timeout_seconds": 60,
    "idle_timeout_seconds": 30, "env": {"set": {"A": "1"}, "unset": ["B"], "pass": []},
    "cost_per_call_usd": 0.25, "prompt_var": "P", "cwd_var": "C", "output_var": "O"
  },
  "gate": {
    "command": ["make", "check"], "frozen": ["tests/**"], "timeout_seconds": 10, "min_tests": 3,
    "must_start_red": false, "setup": ["make", "deps"], "where": "clean", "overlay": "/srv/hidden",
    "report": "target/report.xml", "prove": true
  },
  "brakes": {
    "max_iterations": "unlimited", "score_plateau_window": 5, "score_plateau_delta": 0.05, "min_score": 1,
    "max_harness_failures": 2, "no_progress_window": 4, "max_wall_seconds": 3600, "max_ticks_per_day": 20,
    "max_cost_usd": 12.5, "max_tokens": 1000000, "on_trip": "park"
  },
  "blast_radius": {
    "use_worktree": true, "worktree_for": "loop", "setup": ["npm", "ci"], "copy": [".env"],
    "file_scope": ["src/"], "protect": ["LICENSE"], "sandbox": "on", "writable": ["~/.cache"],
    "deny_read": ["/etc/shadow"], "git": "write", "watch": "warn"
  },
  "schedule": {"cron": "*/15 8-18 * * 1-5", "timezone": "Europe/Berlin", "window": "22:00-06:00"},
  "phases": ["draft", "polish"],
  "approval_phases": ["draft"],
  "notify": [{"on": ["stopped", "approval", "done", "verifier_broken", "budget_80"], "command": ["tell"]}],
  "x-owner": "me",
  "x-": [1, 2.5, null]
}"#;

fn parse(text: &str) -> Config {
    let Parsed { config, warnings } =
        Config::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(warnings, [], "{text}");
    config
}

fn with(fragment: &str) -> Config {
    parse(&format!("{{\"name\": \"a\", \"roles\": {{}}, {fragment}}}"))
}

fn written(config: &Config) -> Value {
    serde_json::to_value(config).expect("a configuration is JSON")
}

// rows: U-05, B-20
#[test]
fn every_key_is_read_and_written_back() {
    let config = parse(EVERYTHING);
    let expected: Value = serde_json::from_str(EVERYTHING).unwrap();
    assert_eq!(written(&config), expected);
    assert_eq!(
        parse(&serde_json::to_string_pretty(&config).unwrap()),
        config
    );
    let restored: Config = serde_json::from_value(expected).unwrap();
    assert_eq!(restored, config);
}

// rows: U-05
#[test]
fn every_key_means_what_it_says() {
    let config = parse(EVERYTHING);
    assert_eq!(config.name().as_str(), "nightly.2");
    let source = config.work_source();
    assert_eq!(source.kind(), WorkSourceKind::Command);
    assert_eq!(source.timeout(), Duration::from_secs(5));
    assert!(!source.tick_when_done());
    let implement = config.roles().implement.as_ref().unwrap();
    assert_eq!(implement.context_window(), Some(32_000));
    let verify = config.harness_of(config.roles().verify.as_ref()).unwrap();
    assert!(matches!(
        verify.as_slice(),
        [HarnessRef::Profile(_), HarnessRef::Described(_)]
    ));
    let harness = config.harness_of(Some(implement)).unwrap().as_slice()[0]
        .described()
        .unwrap();
    assert_eq!(harness.command().unwrap().as_slice(), ["agent", "{prompt}"]);
    assert_eq!(harness.prompt_via, Some(PromptVia::Stdin));
    assert_eq!(harness.timeout(), Duration::from_secs(60));
    assert_eq!(harness.idle_timeout(), Some(Duration::from_secs(30)));
    assert_eq!(harness.cost_per_call().unwrap().micros(), 250_000);
    let gate = config.gate().unwrap();
    assert_eq!(
        (gate.place(), gate.prove(), gate.min_tests()),
        (GatePlace::Clean, true, Some(3))
    );
    assert!(!config.must_start_red());
    let brakes = config.brakes();
    assert_eq!(brakes.max_iterations(), None);
    assert_eq!(brakes.score_plateau_window(), Some(5));
    assert_eq!(brakes.score_plateau_delta().get(), 0.05);
    assert_eq!(brakes.min_score(), Score::ONE);
    assert_eq!(brakes.max_harness_failures(), 2);
    assert_eq!(brakes.no_progress_window(), Some(4));
    assert_eq!(brakes.max_wall(), Some(Duration::from_secs(3600)));
    assert_eq!(brakes.max_ticks_per_day(), Some(20));
    assert_eq!(brakes.max_cost().unwrap().micros(), 12_500_000);
    assert_eq!(brakes.max_tokens(), Some(1_000_000));
    assert_eq!(brakes.on_trip(), OnTrip::Park);
    let radius = config.blast_radius();
    assert!(radius.use_worktree());
    assert_eq!(
        (radius.sandbox(), radius.watch()),
        (Sandbox::On, Watch::Warn)
    );
    let window = config.schedule().unwrap().window.unwrap();
    assert!(window.contains(22 * 60) && window.contains(0) && !window.contains(6 * 60));
    assert_eq!(config.free().keys().collect::<Vec<_>>(), ["x-owner", "x-"]);
}

// rows: B-01, B-04, S-02, H-02, X-10; cases: 2
#[test]
fn every_brake_that_counts_has_a_finite_default() {
    for text in [
        r#"{"name": "a", "roles": {}}"#,
        r#"{"name": "a", "roles": {}, "brakes": null, "harness": null, "blast_radius": null, "gate": null}"#,
        r#"{"name": "a", "roles": {"verify": null}, "brakes": {"max_iterations": null, "max_wall_seconds": null,
            "score_plateau_window": null, "no_progress_window": null, "min_score": null, "max_cost_usd": null}}"#,
    ] {
        let config = parse(text);
        let brakes = config.brakes();
        assert_eq!(brakes.max_iterations(), Some(10));
        assert_eq!(brakes.score_plateau_window(), Some(3));
        assert_eq!(brakes.score_plateau_delta(), Score::ZERO);
        assert_eq!(brakes.min_score().get(), 0.7);
        assert_eq!(brakes.max_harness_failures(), 3);
        assert_eq!(brakes.no_progress_window(), Some(3));
        assert_eq!(brakes.max_wall(), Some(Duration::from_secs(8 * 3600)));
        assert_eq!(
            (
                brakes.max_cost(),
                brakes.max_tokens(),
                brakes.max_ticks_per_day()
            ),
            (None, None, None)
        );
        assert_eq!(brakes.on_trip(), OnTrip::Halt);
        assert_eq!(config.work_source().kind(), WorkSourceKind::Single);
        assert_eq!(config.harness(), None);
        assert!(!config.blast_radius().use_worktree());
        assert!(config.blast_radius().file_scope().is_empty());
        assert!(config.has_judge() && !config.must_start_red());
    }
}

// rows: B-04
#[test]
fn a_window_of_zero_is_off() {
    let config = with(r#""brakes": {"score_plateau_window": 0, "no_progress_window": 0}"#);
    assert_eq!(config.brakes().score_plateau_window(), None);
    assert_eq!(config.brakes().no_progress_window(), None);
}

// cases: 2
#[test]
fn unlimited_needs_another_cap() {
    for caps in [
        r#""max_iterations": "unlimited""#,
        r#""max_wall_seconds": "unlimited""#,
        r#""max_iterations": "unlimited", "max_wall_seconds": "unlimited", "max_cost_usd": 1"#,
        r#""max_iterations": "unlimited", "max_wall_seconds": "unlimited", "max_tokens": 1"#,
        r#""max_iterations": "unlimited", "max_wall_seconds": "unlimited", "max_ticks_per_day": 1"#,
    ] {
        with(&format!("\"brakes\": {{{caps}}}"));
    }
    assert!(
        Config::parse(
            r#"{"name": "a", "roles": {},
                "brakes": {"max_iterations": "unlimited", "max_wall_seconds": "unlimited"}}"#
        )
        .is_err()
    );
}

// rows: H-02, H-03, H-04, H-20
#[test]
fn a_harness_without_a_command_has_the_default_one() {
    for harness in [
        "{}",
        r#"{"command": []}"#,
        r#"{"command": null}"#,
        r#"{"prompt_var": "X"}"#,
    ] {
        let config = with(&format!("\"harness\": {harness}"));
        let described = config.harness().unwrap().as_slice()[0].described().unwrap();
        assert_eq!(described.command(), None, "{harness}");
        assert_eq!(described.timeout(), Duration::from_secs(1800));
        assert_eq!(described.prompt_via, None);
    }
    let config = with(r#""harness": {"command": []}"#);
    assert_eq!(written(&config)["harness"], json!({"command": []}));
}

// rows: H-21, H-22
#[test]
fn keys_that_are_only_notes_are_accepted() {
    let harness = r#"{"prompt_var": "P", "cwd_var": "C", "output_var": "O"}"#;
    let text = format!(
        "{{\"name\": \"a\", \"roles\": {{\"implement\": {{\"tier\": \"large\"}}}}, \"harness\": {harness}}}"
    );
    parse(&text);
}

// rows: K-03, K-04
#[test]
fn criteria_are_a_text_or_a_list() {
    assert_eq!(
        with(r#""acceptance_criteria": ["a", "b"]"#).criteria_text(),
        "- a\n- b"
    );
    assert_eq!(
        with(r#""acceptance_criteria": "as it is\n""#).criteria_text(),
        "as it is\n"
    );
    assert_eq!(with(r#""acceptance_criteria": []"#).criteria_text(), "");
    assert_eq!(with(r#""acceptance_criteria": null"#).criteria_text(), "");
    let list = with(r#""acceptance_criteria": ["a"]"#);
    assert_eq!(
        list.acceptance_criteria(),
        Some(&Criteria::List(vec!["a".to_owned()]))
    );
}

#[test]
fn phases_have_the_approvals_that_go_with_them() {
    let names = |phases: &[loop_core::config::PhaseName]| -> Vec<String> {
        phases.iter().map(ToString::to_string).collect()
    };
    let default = with(r#""description": null"#);
    assert_eq!(
        names(default.phases()),
        ["research", "spec", "implement", "code_review", "bug_find"]
    );
    assert_eq!(names(default.approval_phases()), ["spec", "bug_find"]);
    let own = with(r#""phases": ["implement"]"#);
    assert_eq!(names(own.phases()), ["implement"]);
    assert!(own.approval_phases().is_empty());
    assert!(
        with(r#""approval_phases": []"#)
            .approval_phases()
            .is_empty()
    );
}

#[test]
fn a_gate_is_the_judge_unless_a_role_is_too() {
    let alone = with(r#""gate": {"command": ["a"]}"#);
    assert!(!alone.has_judge() && alone.must_start_red());
    let both = parse(r#"{"name": "a", "roles": {"verify": {}}, "gate": {"command": ["a"]}}"#);
    assert!(both.has_judge() && !both.must_start_red());
}

#[test]
fn a_backlog_shares_one_worktree() {
    assert_eq!(
        with(r#""work_source": {"kind": "backlog"}"#).worktree_for(),
        WorktreeFor::Loop
    );
    assert_eq!(
        with(r#""work_source": {"kind": "audit"}"#).worktree_for(),
        WorktreeFor::Task
    );
    let told =
        with(r#""work_source": {"kind": "backlog"}, "blast_radius": {"worktree_for": "task"}"#);
    assert_eq!(told.worktree_for(), WorktreeFor::Task);
}

fn warnings_of(fragment: &str) -> (Config, Vec<String>) {
    let text = format!("{{\"name\": \"a\", \"roles\": {{}},\n {fragment}}}");
    let Parsed { config, warnings } =
        Config::parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
    (
        config,
        warnings
            .iter()
            .map(|warning| warning.with_file("loop.json").to_string())
            .collect(),
    )
}

// rows: S-03
#[test]
fn an_unknown_kind_of_work_source_is_single_with_a_warning() {
    let fragment =
        r#""work_source": {"speed": [1e9], "kind": "magic", "area": "/", "kind2": null}"#;
    let (config, warnings) = warnings_of(fragment);
    assert_eq!(config.work_source().kind(), WorkSourceKind::Single);
    assert_eq!(
        warnings,
        [
            "loop.json:2:34: work_source.kind: \"magic\" is not one of single, audit, backlog, command; \
          the work source is single"
        ]
    );
}

// rows: S-02, S-04
#[test]
fn a_missing_kind_of_work_source_is_single_with_a_warning() {
    for source in ["{}", r#"{"kind": null}"#] {
        let (config, warnings) = warnings_of(&format!("\"work_source\": {source}"));
        assert_eq!(config.work_source().kind(), WorkSourceKind::Single);
        assert_eq!(
            warnings,
            ["loop.json:2:2: work_source: there is no kind; the work source is single"]
        );
    }
}

// rows: X-13
#[test]
fn the_old_name_of_use_worktree_is_read_with_a_warning_and_not_written() {
    let (config, warnings) = warnings_of(r#""blast_radius": {"worktree": true}"#);
    assert!(config.blast_radius().use_worktree());
    assert_eq!(
        warnings,
        ["loop.json:2:19: blast_radius.worktree: read as use_worktree; rename it"]
    );
    assert_eq!(
        written(&config)["blast_radius"],
        json!({"use_worktree": true})
    );
}

// rows: B-20
#[test]
fn free_keys_keep_their_order_and_their_values() {
    let text = r#"{"x-z":{"b":1,"a":[2.50,-3,null]},"name":"a","x-a":"text","roles":{},"x-m":1e3}"#;
    let config = parse(text);
    let written = serde_json::to_string(&config).unwrap();
    assert_eq!(
        written,
        r#"{"name":"a","roles":{},"x-z":{"b":1,"a":[2.5,-3,null]},"x-a":"text","x-m":1000.0}"#
    );
}

// rows: T-05, T-08, T-10; the keys that a template gives are the keys that a created loop has
#[test]
fn values_that_equal_the_default_are_written_back_too() {
    let text = r#"{"name": "a", "work_source": {"kind": "audit", "project": "~/.automaton/"},
        "roles": {"implement": {"prompt": "loop-implement.md"}},
        "brakes": {"max_iterations": 10, "score_plateau_window": 3, "min_score": 0.7},
        "blast_radius": {"use_worktree": true, "file_scope": ["scripts/", "prompts/", "tests/", "design/"],
                         "protect": []},
        "schedule": {"interval_seconds": 3600}, "approval_phases": []}"#;
    assert_eq!(
        written(&parse(text)),
        serde_json::from_str::<Value>(text).unwrap()
    );
}

#[test]
fn a_created_loop_gets_its_name_and_harness() {
    let mut config = parse(EVERYTHING);
    config.set_name("other".parse().unwrap());
    config.set_harness(HarnessChoice::One(HarnessRef::Profile(
        "generic".parse().unwrap(),
    )));
    assert_eq!(written(&config)["name"], "other");
    assert_eq!(written(&config)["harness"], "generic");
}

// rows: V-11
#[test]
fn a_byte_order_mark_is_passed_over() {
    parse("\u{feff}{\"name\": \"a\", \"roles\": {}}\r\n");
}

#[test]
fn the_name_of_the_autonomous_run_is_reserved() {
    assert!(
        parse(r#"{"name": "run", "roles": {}}"#)
            .name()
            .is_reserved()
    );
    assert!(
        !parse(r#"{"name": "running", "roles": {}}"#)
            .name()
            .is_reserved()
    );
}
