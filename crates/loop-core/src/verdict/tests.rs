use super::*;
use proptest::prelude::*;

fn read(text: &str) -> Result<(bool, f64), Unreadable> {
    Verdict::read(text, "").map(|v| (v.pass, v.score.get()))
}

// rows: V-01, V-02, V-03
// cases: 21, 31, 32
#[test]
fn verdicts_are_found_where_models_put_them() {
    let line = r#"{"pass":true,"score":0.9,"reasons":["a"],"next_hint":"h"}"#;
    let chatter = "thinking {about} it\n".repeat(40);
    for text in [
        line.to_owned(),
        format!("{line}\n\n"),
        format!("\u{feff}{line}\r\n"),
        format!("\u{1b}[0m{line}\u{1b}[0m"),
        format!("{chatter}{line}"),
        format!("```json\n{line}\n```"),
        format!("Here:\n```json\n{line}\n```\nThat is all."),
        format!("prose with a brace {{ and then {line} and more prose"),
        line.replace(',', ",\r\n  ")
            .replace('{', "{\r\n")
            .replace('}', "\r\n}"),
        format!("{line}\nthe same again:\n{line} ok"),
        r#"{"pass":true,"score":0.9,"reasons":["```rust fn a(){} ```"]}"#.to_owned(),
    ] {
        assert_eq!(read(&text), Ok((true, 0.9)), "{text:?}");
    }
}

// rows: V-03, V-04, V-05, V-06, V-11
// cases: 19, 22, 24, 26, 27, 28
#[test]
fn anything_else_is_no_verdict() {
    for text in [
        "",
        "ok looks good",
        "{}",
        "null",
        "[]",
        "[1]",
        "\"pass\"",
        "I would PASS this if the tests ran.",
        "The password test does not PASS",
        "Of 12 tests 3 fail. Score: 0.25",
        r#"{"pass":true}"#,
        r#"{"score":1}"#,
        r#"{"pass":"true","score":1}"#,
        r#"{"pass":1,"score":1}"#,
        r#"{"pass":null,"score":1}"#,
        r#"{"pass":true,"score":"0.9"}"#,
        r#"{"pass":true,"score":"85/100"}"#,
        r#"{"pass":true,"score":1.2}"#,
        r#"{"pass":true,"score":-0.1}"#,
        r#"{"pass":true,"score":250}"#,
        r#"{"pass":true,"score":1e400}"#,
        r#"{"pass":true,"score":NaN}"#,
        r#"{"pass":true,"pass":false,"score":1}"#,
        r#"{"pass":true,"score":1,"score":0}"#,
        r#"{"pass":true,"score":1,"reasons":"x"}"#,
        r#"{"pass":true,"score":1,"reasons":[1]}"#,
        r#"{"pass":true,"score":1,"next_hint":7}"#,
        r#"{'pass': True, "score": 80, "reasons": ["a",],}"#,
        r#"{"pass":true,"score":1"#,
        "```json\n{\"pass\":true,\"score\":1,\"reasons\":[\"a\nb\"]}\n```",
        r#"{"pass":"yes","score":1} is what I would say"#,
        r#"cut off: {"answer": {"pass":true,"score":1}"#,
    ] {
        assert!(
            matches!(
                Verdict::read(text, ""),
                Err(Unreadable::NoObject | Unreadable::Shape { .. })
            ),
            "{text:?} gave {:?}",
            Verdict::read(text, "")
        );
    }
}

// rows: V-03
#[test]
fn verdicts_that_disagree_are_conflicting() {
    let text = r#"first {"pass":false,"score":0.1} then {"pass":true,"score":1} end"#;
    assert_eq!(Verdict::read(text, ""), Err(Unreadable::Conflicting));
    let agreeing = r#"first {"pass":true,"score":0.8} then {"pass":true,"score":1} end"#;
    assert_eq!(read(agreeing), Ok((true, 1.0)));
}

// rows: V-06
#[test]
fn optional_keys_default_and_unknown_ones_stay() {
    let verdict = Verdict::read(
        r#"{"pass":false,"score":0,"next_hint":null,"blocked":" ","model":"x"}"#,
        "",
    )
    .unwrap();
    assert_eq!(verdict.reasons, Vec::<String>::new());
    assert_eq!(verdict.next_hint, "");
    assert_eq!(verdict.blocked, None);
    assert_eq!(verdict.extra["model"], "x");
    assert_eq!(
        serde_json::to_string(&verdict).unwrap(),
        r#"{"pass":false,"score":0.0,"reasons":[],"next_hint":"","model":"x"}"#
    );
    let blocked = Verdict::read(r#"{"pass":true,"score":1,"blocked":"no key"}"#, "").unwrap();
    assert_eq!(blocked.blocked.as_deref(), Some("no key"));
}

// rows: V-04, V-06
#[test]
fn a_verdict_that_holds_half_a_character_is_read_and_its_echo_is_not() {
    let json = r#"{"pass":true,"score":1,"next_hint":"cut \ud83d","\udc00":1}"#;
    for text in [
        json.to_owned(),
        format!("so:\n{json}"),
        format!("{json} so"),
    ] {
        let verdict = Verdict::read(&text, "").unwrap();
        assert_eq!(verdict.next_hint, "cut \u{fffd}", "{text}");
        assert_eq!(verdict.extra["\u{fffd}"], 1, "{text}");
    }
    let echo = format!("you said {json} there");
    assert_eq!(Verdict::read(&echo, json), Err(Unreadable::Echo));
}

// rows: V-06
#[test]
fn a_record_keeps_bounded_texts() {
    let verdict = Verdict {
        pass: false,
        score: Score::try_from(0.5).unwrap(),
        reasons: vec!["r".repeat(5_000), "s".repeat(5_000), "t".to_owned()],
        next_hint: "é".repeat(4_001),
        blocked: None,
        extra: [
            ("small".to_owned(), Value::from(1)),
            ("big".to_owned(), Value::from("x".repeat(5_000))),
        ]
        .into_iter()
        .collect(),
    };
    let kept = verdict.clone().bounded();
    assert_eq!(kept.next_hint, verdict.next_hint, "the hint comes first");
    assert_eq!(
        kept.reasons,
        [
            format!("{}{TRUNCATED}", "r".repeat(3_999)),
            "...[truncated]".to_owned()
        ]
    );
    assert_eq!(kept.extra.keys().collect::<Vec<_>>(), ["small"]);
    assert!(serde_json::to_string(&kept).unwrap().len() < 32 * 1024);
}

// cases: 115
#[test]
fn what_a_terminal_acts_on_is_not_kept() {
    let verdict = Verdict::read(
        r#"{"pass":false,"score":0,"reasons":["\u001b[31mred"],"next_hint":"a\u009b2Jb\u0000\r\nc"}"#, "")
    .unwrap()
    .bounded();
    assert_eq!(verdict.reasons, ["red"]);
    assert_eq!(verdict.next_hint, "a2Jb\nc");
}

#[test]
fn hostile_text_is_read_in_linear_time() {
    for text in [
        "{".repeat(200_000),
        "{\"a\":".repeat(3_000),
        format!("{}x", "{\"a\":".repeat(120)),
        "{\"x ".repeat(100_000),
        "{\"a\":{},".repeat(50_000),
        format!("{}{}", "{\"a\":[".repeat(10_000), "]}".repeat(10_000)),
    ] {
        assert!(Verdict::read(&text, "").is_err());
    }
}

proptest! {
    // rows: V-10, V-11
    #[test]
    fn a_verdict_round_trips_and_no_text_panics(
        pass in any::<bool>(),
        score in 0.0f64..=1.0,
        reasons in prop::collection::vec(any::<String>(), 0..4),
        hint in any::<String>(),
        key in "[a-z]{6,9}",
        text in any::<String>(),
    ) {
        let verdict = Verdict {
            pass,
            score: Score::try_from(score).unwrap(),
            reasons,
            next_hint: hint,
            blocked: None,
            extra: [(key, Value::from("kept"))].into_iter().collect(),
        };
        let json = serde_json::to_string(&verdict).unwrap();
        prop_assert_eq!(Verdict::read(&json, ""), Ok(verdict.clone()));
        let stored: Verdict = serde_json::from_str(&json).unwrap();
        prop_assert_eq!(stored, verdict);
        let _no_panic = Verdict::read(&text, "");
    }
}
