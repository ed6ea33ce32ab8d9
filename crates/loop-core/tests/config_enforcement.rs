//! What holds and what does not, said in words.

use loop_core::config::{
    Config, Effective, Enforced, Origin, Position, ProfileName, Supported, UnknownUse, locate,
};
use loop_core::harness::{Harnesses, Profiles};
use loop_core::profile::Profile;
use std::sync::Arc;

fn parse(text: &str) -> Config {
    Config::parse(text)
        .unwrap_or_else(|error| panic!("{text}: {error}"))
        .config
}

/// A profile that reports what `output` says.
fn profile(name: &str, output: &str) -> (ProfileName, Arc<Profile>) {
    let text = format!(
        r#"{{"v": 1, "name": "{name}", "command": ["{name}"], "prompt_via": "stdin",
            "output": {{"format": "ndjson", "final": {{"path": "text"}}{output}}}}}"#
    );
    let profile = Profile::parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let name = name.parse().unwrap_or_else(|_| panic!("{name} is a name"));
    (name, Arc::new(profile))
}

/// The harnesses of a loop, where there are profiles that report different things.
fn called(config: &Config) -> Harnesses {
    let profiles: Profiles = [
        profile("mute", ""),
        profile("counts", r#", "usage": {"input": "in", "output": "out"}"#),
        profile(
            "priced",
            r#", "usage": {"input": "in", "output": "out"}, "cost": {"path": "usd"}"#,
        ),
    ]
    .into();
    Harnesses::of(config, &profiles).unwrap_or_else(|error| panic!("{error}"))
}

fn with(fragment: &str) -> Config {
    parse(&format!("{{\"name\": \"a\", \"roles\": {{}}, {fragment}}}"))
}

// rows: B-20; cases: 4, 135
#[test]
fn what_this_version_does_not_have_is_named_by_its_path() {
    #[rustfmt::skip]
    let table = [
        (r#""blast_radius": {"sandbox": "on"}"#, "blast_radius.sandbox"),
        (r#""blast_radius": {"writable": ["/x"]}"#, "blast_radius.writable"),
        (r#""blast_radius": {"deny_read": ["~/.ssh"]}"#, "blast_radius.deny_read"),
        (r#""blast_radius": {"git": "write"}"#, "blast_radius.git"),
    ];
    for (fragment, path) in table {
        assert_eq!(
            with(fragment).not_enforced(&Supported::THIS_VERSION),
            [path],
            "{fragment}"
        );
    }
}

#[test]
fn a_path_can_be_found_in_the_text_again() {
    let text =
        "{\"name\": \"a\", \"roles\": {},\n  \"notify\": [\n    {\"on\": [], \"command\": []}]}";
    assert_eq!(
        locate(text, "notify"),
        Some(Position { line: 2, column: 3 })
    );
    assert_eq!(
        locate(text, "notify[0]"),
        Some(Position { line: 3, column: 5 })
    );
    assert_eq!(
        locate(text, "notify[0].command"),
        Some(Position {
            line: 3,
            column: 16
        })
    );
    for absent in [
        "",
        "gate",
        "notify[1]",
        "notify[x]",
        "notify.on",
        "name.x",
        "name[0]",
    ] {
        assert_eq!(locate(text, absent), None, "{absent}");
    }
}

// cases: 4
#[test]
fn a_value_that_asks_for_nothing_is_not_refused() {
    #[rustfmt::skip]
    let table = [
        r#""work_source": {"kind": "single", "task": "t", "tick_when_done": true, "area": null}"#,
        r#""harness": {"command": [], "prompt_via": "argv", "timeout_seconds": 5, "cost_per_call_usd": 1}"#,
        r#""gate": null"#,
        r#""brakes": {"max_iterations": 3, "score_plateau_window": 0, "no_progress_window": 0, "on_trip": "halt"}"#,
        r#""brakes": {"max_cost_usd": 3, "max_ticks_per_day": 3, "max_wall_seconds": 3, "max_tokens": null}"#,
        r#""blast_radius": {"use_worktree": true, "copy": [], "file_scope": [], "protect": [], "sandbox": "off"}"#,
        r#""blast_radius": {"writable": [], "deny_read": [], "git": "read", "watch": null, "setup": null}"#,
        r#""schedule": {"interval_seconds": 60, "window": "22:00-06:00"}"#,
        r#""notify": [{"on": ["done"], "command": ["x"]}]"#,
        r#""phases": ["x"], "approval_phases": ["x"], "x-gate": {"command": ["x"]}"#,
    ];
    for fragment in table {
        assert!(
            with(fragment)
                .not_enforced(&Supported::THIS_VERSION)
                .is_empty(),
            "{fragment}"
        );
    }
}

// cases: 133
#[test]
fn a_cost_cap_needs_a_known_cost_for_every_call() {
    let unknown = |text: &str| {
        let config = parse(text);
        config.caps_enforceable(&called(&config)).unwrap_err()
    };
    let told = |unknown: &UnknownUse| match unknown {
        UnknownUse::Cost { role, key } => (*role, key.clone()),
        other => panic!("{other}"),
    };
    let cap = r#""brakes": {"max_cost_usd": 1}"#;
    let costs = r#"{"cost_per_call_usd": 0.1}"#;

    let default = unknown(&format!("{{\"name\": \"a\", \"roles\": {{}}, {cap}}}"));
    assert_eq!(
        told(&default),
        ("implement", "harness.cost_per_call_usd".to_owned())
    );
    assert_eq!(
        default.to_string(),
        "brakes.max_cost_usd cannot hold: what implement costs is unknown; set \
         harness.cost_per_call_usd to an estimate, or remove the cap"
    );
    let own = unknown(&format!(
        "{{\"name\": \"a\", \"roles\": {{\"verify\": {{\"harness\": [{costs}, \"mute\"]}}}}, \"harness\": {costs}, {cap}}}"
    ));
    assert_eq!(
        told(&own),
        (
            "verify",
            "roles.verify.harness[1].cost_per_call_usd".to_owned()
        )
    );
    for (roles, who) in [
        (
            format!("{{\"implement\": {{\"harness\": {costs}}}}}"),
            "verify",
        ),
        (
            format!("{{\"implement\": {{\"harness\": {costs}}}, \"plan\": {{}}}}"),
            "plan",
        ),
        (
            format!(
                "{{\"implement\": {{\"harness\": {costs}}}, \"verify\": {{\"harness\": {costs}}}, \"orchestrate\": {{}}}}"
            ),
            "orchestrate",
        ),
    ] {
        assert_eq!(
            told(&unknown(&format!(
                "{{\"name\": \"a\", \"roles\": {roles}, {cap}}}"
            )))
            .0,
            who
        );
    }
}

// cases: 133
#[test]
fn a_cost_cap_holds_with_an_estimate_and_without_a_call() {
    for text in [
        r#"{"name": "a", "roles": {}}"#,
        r#"{"name": "a", "roles": {"orchestrate": {}}, "harness": {"cost_per_call_usd": 0.1},
            "brakes": {"max_cost_usd": 1}}"#,
        r#"{"name": "a", "roles": {"implement": {"harness": {"cost_per_call_usd": 0.1}}},
            "gate": {"command": ["x"]}, "brakes": {"max_cost_usd": 1}}"#,
    ] {
        let config = parse(text);
        assert_eq!(config.caps_enforceable(&called(&config)), Ok(()), "{text}");
    }
}

fn row(config: &Config, key: &str) -> Effective {
    let rows = config.effective(&Supported::THIS_VERSION, &called(config));
    let found: Vec<_> = rows.iter().filter(|row| row.key == key).collect();
    let [row] = found.as_slice() else {
        panic!("{} rows for {key}", found.len())
    };
    (*row).clone()
}

// rows: B-04; cases: 4
#[test]
fn every_setting_is_shown_with_its_origin() {
    let config = parse(
        r#"{"name": "a", "roles": {"implement": {"prompt": "impl.md", "tier": "big"}},
            "harness": {"command": ["agent", "two words"], "cost_per_call_usd": 0.1},
            "brakes": {"max_iterations": 3, "score_plateau_window": 0, "max_cost_usd": 2.5,
                       "max_wall_seconds": "unlimited"},
            "blast_radius": {"file_scope": ["src/", "docs/"], "deny_read": ["~/.ssh"]}}"#,
    );
    let no = || Enforced::No("this version does not have it".to_owned());
    #[rustfmt::skip]
    let table = [
        ("work_source.kind", "single", Origin::Default, Enforced::Yes),
        ("roles.implement.prompt", "impl.md", Origin::File, Enforced::Yes),
        ("roles.implement.tier", "big; has no effect", Origin::File, Enforced::Off),
        ("roles.verify", "called without a prompt", Origin::Default, Enforced::Yes),
        ("roles.orchestrate", "not called", Origin::Default, Enforced::Off),
        ("harness.command", "[\"agent\", \"two words\"]", Origin::File, Enforced::Yes),
        ("harness.timeout_seconds", "1800 s", Origin::Default, Enforced::Yes),
        ("gate", "none", Origin::Default, Enforced::Off),
        ("brakes.max_iterations", "3", Origin::File, Enforced::Yes),
        ("brakes.score_plateau_window", "off", Origin::File, Enforced::Off),
        ("brakes.no_progress_window", "3 attempts", Origin::Default, Enforced::Yes),
        ("brakes.min_score", "0.7", Origin::Default, Enforced::Yes),
        ("brakes.max_harness_failures", "3 in a row", Origin::Default, Enforced::Yes),
        ("brakes.max_wall_seconds", "unlimited", Origin::File, Enforced::Off),
        ("brakes.max_cost_usd", "2.50 USD", Origin::File, Enforced::Yes),
        ("brakes.max_tokens", "no cap", Origin::Default, Enforced::Off),
        ("blast_radius.file_scope", "src/, docs/", Origin::File, Enforced::Yes),
        ("blast_radius.deny_read", "~/.ssh", Origin::File, no()),
        ("blast_radius.sandbox", "off", Origin::Default, Enforced::Yes),
        ("phases", "research, spec, implement, code_review, bug_find", Origin::Default, Enforced::Yes),
        ("approval_phases", "spec, bug_find", Origin::Default, Enforced::Yes),
    ];
    for (key, value, from, enforced) in table {
        let expected = Effective {
            key: key.to_owned(),
            value: value.to_owned(),
            from,
            enforced,
        };
        assert_eq!(row(&config, key), expected);
    }
    assert_eq!(
        row(&config, "blast_radius.deny_read").to_string(),
        "blast_radius.deny_read: ~/.ssh (not enforced: this version does not have it)"
    );
}

// cases: 133
#[test]
fn caps_hold_where_the_profile_reports_what_a_call_uses() {
    for (harness, cost, tokens) in [
        ("mute", false, false),
        ("counts", false, true),
        ("priced", true, true),
    ] {
        for (cap, holds) in [("max_cost_usd", cost), ("max_tokens", tokens)] {
            let config = with(&format!(
                r#""harness": "{harness}", "brakes": {{"{cap}": 1}}"#
            ));
            let checked = config.caps_enforceable(&called(&config));
            assert_eq!(checked.is_ok(), holds, "{harness} {cap}");
            if let Err(unknown) = checked {
                assert_eq!(unknown.cap(), format!("brakes.{cap}"));
            }
        }
    }
}

// cases: 133, 135
#[test]
fn a_cost_cap_that_cannot_hold_says_so() {
    let config = with(r#""brakes": {"max_cost_usd": 1}"#);
    let why = config
        .caps_enforceable(&called(&config))
        .unwrap_err()
        .to_string();
    assert_eq!(
        row(&config, "brakes.max_cost_usd").enforced,
        Enforced::No(why)
    );
}

// rows: B-04; cases: 2, 133
#[test]
fn a_loop_says_which_caps_it_runs_without() {
    let none = with(r#""harness": {"command": ["agent"]}"#);
    assert_eq!(
        none.uncapped(&called(&none)),
        [
            "cost: no cap; this harness reports none",
            "tokens: no cap",
            "ticks per day: no cap"
        ]
    );
    let estimated = with(
        r#""harness": {"cost_per_call_usd": 1}, "brakes": {"max_iterations": "unlimited", "max_ticks_per_day": 4}"#,
    );
    assert_eq!(
        estimated.uncapped(&called(&estimated)),
        ["cost: no cap", "tokens: no cap", "iterations: unlimited"]
    );
    let all = with(r#""brakes": {"max_cost_usd": 1, "max_tokens": 1, "max_ticks_per_day": 1}"#);
    assert!(all.uncapped(&called(&all)).is_empty());
}
