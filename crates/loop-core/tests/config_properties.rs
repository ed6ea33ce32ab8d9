//! What holds for every text and every configuration.

use loop_core::config::{Config, Parsed, Supported};
use loop_core::harness::{Harnesses, Profiles};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// A configuration that uses every section.
const GOOD: &str = r#"{"$schema": "s", "name": "a", "work_source": {"kind": "backlog", "area": "core"},
 "roles": {"implement": {"prompt": "i.md"}, "verify": {"harness": ["p", {"command": ["x", "é"]}]}},
 "harness": {"env": {"set": {"A": "1"}}, "cost_per_call_usd": 0.25}, "gate": {"command": ["t"]},
 "brakes": {"max_iterations": 3, "max_cost_usd": 1.5, "max_wall_seconds": "unlimited"},
 "blast_radius": {"worktree": true, "file_scope": ["src/"]}, "phases": ["p"], "approval_phases": [],
 "schedule": {"cron": "0 6 * * 1-5", "timezone": "UTC"}, "notify": [{"on": ["done"], "command": ["n"]}],
 "x-a": {"b": [1, 2.5, null]}}"#;

/// Parses a text and uses everything that comes of it; a refusal has to point into the text.
fn exercise(text: &str) {
    match Config::parse(text) {
        Ok(Parsed { config, .. }) => {
            // A profile that there is not is told, and nothing else is wrong.
            if let Ok(harnesses) = Harnesses::of(&config, &Profiles::default()) {
                let rows = config.effective(&Supported::THIS_VERSION, &harnesses);
                assert!(!rows.is_empty());
            }
            let written = serde_json::to_string(&config).expect("a configuration is JSON");
            let back = Config::parse(&written).expect("what is written is good");
            assert_eq!(back.config, config);
        }
        Err(error) => {
            let line = text
                .split('\n')
                .nth(error.position().line - 1)
                .expect("the line is there");
            assert!(
                error.position().column <= line.chars().count() + 1,
                "{error}\n{text}"
            );
            assert_eq!(error.to_string().lines().count(), 1, "{error}");
        }
    }
}

/// Writes a value the way people do, without an exponent.
fn plain(value: &Value) -> String {
    value.to_string().replace("1e-6", "0.000001")
}

/// A key with one of a few values, or without any.
fn maybe(key: &'static str, values: Vec<Value>) -> impl Strategy<Value = Option<(String, Value)>> {
    prop::option::of(prop::sample::select(values))
        .prop_map(move |value| Some((key.to_owned(), value?)))
}

fn object(keys: Vec<(&'static str, Vec<Value>)>) -> impl Strategy<Value = Value> {
    let keys: Vec<_> = keys
        .into_iter()
        .map(|(key, values)| maybe(key, values))
        .collect();
    keys.prop_map(|keys| Value::Object(keys.into_iter().flatten().collect::<Map<_, _>>()))
}

fn harness() -> impl Strategy<Value = Value> {
    object(vec![
        ("profile", vec![json!("p-1")]),
        (
            "command",
            vec![
                json!([]),
                json!(["agent"]),
                json!(["agent", "", "{prompt}"]),
            ],
        ),
        (
            "prompt_via",
            vec![json!("argv"), json!("stdin"), json!("file")],
        ),
        ("timeout_seconds", vec![json!(1), json!(604_800)]),
        (
            "cost_per_call_usd",
            vec![json!(0.000001), json!(3), json!(999_999_999.999_999)],
        ),
        (
            "env",
            vec![json!({}), json!({"set": {"B": "2", "A": ""}, "pass": []})],
        ),
    ])
}

fn brakes() -> impl Strategy<Value = Value> {
    object(vec![
        (
            "max_iterations",
            vec![json!(1), json!(1_000_000), json!("unlimited")],
        ),
        ("score_plateau_window", vec![json!(0), json!(2), json!(32)]),
        (
            "min_score",
            vec![json!(0), json!(0.3), json!(0.000001), json!(1)],
        ),
        ("no_progress_window", vec![json!(0), json!(1)]),
        ("max_wall_seconds", vec![json!(1), json!(31_622_400)]),
        ("max_cost_usd", vec![json!(0.1), json!(10)]),
        ("max_tokens", vec![json!(u32::MAX)]),
    ])
}

fn config() -> impl Strategy<Value = Value> {
    let sections = (
        harness(),
        prop::option::of(harness()),
        prop::option::of(brakes()),
        object(vec![
            ("use_worktree", vec![json!(true), json!(false)]),
            ("file_scope", vec![json!([]), json!(["a/", "b c/*"])]),
            ("sandbox", vec![json!("off"), json!("on")]),
            ("watch", vec![json!("stop"), json!("warn")]),
        ]),
        object(vec![
            (
                "acceptance_criteria",
                vec![json!("x"), json!([]), json!(["x", "y"])],
            ),
            (
                "schedule",
                vec![
                    json!({"interval_seconds": 1}),
                    json!({"window": "00:00-23:59"}),
                ],
            ),
            (
                "gate",
                vec![json!({"command": ["t"], "where": "clean", "frozen": ["t/**"]})],
            ),
            ("phases", vec![json!(["p", "q"])]),
            ("approval_phases", vec![json!([])]),
            ("x-b", vec![json!([1]), json!({"k": "v"})]),
            ("x-a", vec![json!(0.5), json!(null)]),
        ]),
    );
    sections.prop_map(|(judge, shared, brakes, radius, rest)| {
        let mut config =
            json!({"name": "a", "roles": {"implement": {}, "verify": {"harness": judge}}});
        let keys = config.as_object_mut().expect("an object");
        keys.extend(shared.map(|harness| ("harness".to_owned(), harness)));
        keys.extend(brakes.map(|brakes| ("brakes".to_owned(), brakes)));
        keys.insert("blast_radius".to_owned(), radius);
        keys.extend(rest.as_object().expect("an object").clone());
        config
    })
}

#[test]
fn the_text_that_is_broken_below_is_good() {
    assert!(Config::parse(GOOD).is_ok());
}

// cases: 79
#[test]
fn a_text_cut_short_anywhere_is_refused() {
    for (end, _) in GOOD.char_indices() {
        assert!(Config::parse(&GOOD[..end]).is_err(), "{end}");
        exercise(&GOOD[..end]);
    }
}

#[test]
fn nesting_without_end_is_refused() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let deep = format!(
            "{{\"name\": \"a\", \"roles\": {{}}, \"x-deep\": {}1{}}}",
            open.repeat(100_000),
            close.repeat(100_000)
        );
        assert!(Config::parse(&deep).is_err());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    // rows: V-11
    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        exercise(&String::from_utf8_lossy(&bytes));
    }

    // rows: V-11
    #[test]
    fn no_text_of_json_s_characters_makes_it_panic(text in "[\\[\\]{}\",:0-9eE+.\\\\ntrufals\\- \n\u{feff}é]{0,120}") {
        exercise(&text);
    }

    // rows: V-11; cases: 79
    #[test]
    fn no_slip_of_the_pen_makes_it_panic(
        place in 0..GOOD.chars().count(),
        removed in 0..4_usize,
        inserted in "[\\[\\]{}\",:0-9e.\\-\\\\ a\n\u{ff15}]{0,3}",
    ) {
        let mut text: Vec<char> = GOOD.chars().collect();
        let end = (place + removed).min(text.len());
        text.splice(place..end, inserted.chars());
        exercise(&text.into_iter().collect::<String>());
    }

    // rows: B-20
    #[test]
    fn what_is_written_reads_the_same(value in config()) {
        let Parsed { config, warnings } = Config::parse(&plain(&value)).unwrap();
        prop_assert!(warnings.is_empty());
        let text = serde_json::to_string_pretty(&config).unwrap();
        prop_assert_eq!(&Config::parse(&text).unwrap().config, &config);
        prop_assert_eq!(&serde_json::from_str::<Config>(&text).unwrap(), &config);
        let written: Value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(written, value);
    }

    // cases: 2, 3
    #[test]
    fn a_cap_is_the_decimal_that_is_written_or_an_error(text in "[0-9.+eE \\-]{1,8}") {
        let config = format!("{{\"name\": \"a\", \"roles\": {{}}, \"brakes\": {{\"max_iterations\": {text}}}}}");
        let plain = text.trim();
        let is_plain = plain.bytes().all(|byte| byte.is_ascii_digit()) && !plain.starts_with('0');
        let expected = if is_plain { plain.parse().ok().filter(|&cap| cap <= 1_000_000_u32) } else { None };
        let read = Config::parse(&config).ok().map(|parsed| parsed.config.brakes().max_iterations());
        prop_assert_eq!(read, expected.map(Some));
    }
}
