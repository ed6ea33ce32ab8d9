//! The rules by which a call's output is read.

use loop_core::Usd;
use loop_core::answer::CallEnd;
use loop_core::profile::{FaultClass, Profile, Reader, Reset, Said, Tokens};
use proptest::prelude::*;
use std::time::Duration;

const OK: CallEnd = CallEnd::Exited(0);

fn profile(output: &str, faults: &str) -> Profile {
    let head = r#""v":1,"name":"a","command":["a"],"prompt_via":"stdin""#;
    let text = format!(r#"{{{head},"output":{output},"faults":{faults}}}"#);
    Profile::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn read(profile: &Profile, stdout: &str, end: &CallEnd, stderr: &str) -> Said {
    let mut reader = Reader::new(profile);
    reader.push(stdout.as_bytes());
    reader.finish(end, stderr.as_bytes())
}

/// Events `say`, `oops`, `use`, `bill` and `end`.
fn events() -> Profile {
    profile(
        r#"{"format":"ndjson",
            "final":{"where":{"t":"say"},"path":"text"},
            "error":[{"where":{"t":"oops"},"path":"why"}],
            "overcome":{"where":{"t":"tool"}},
            "done":{"where":{"t":"end"}},
            "session":{"path":"session"},
            "usage":[{"where":{"t":"end"},"input":["in","cache"],"cached":"cache","output":"out"},
                     {"where":{"t":"use"},"per":"id","input":["in","cache"],"cached":"cache","output":"out","take":"sum"}],
            "cost":{"where":{"t":"bill"},"path":"usd","take":"sum"}}"#,
        r#"[{"class":"auth","where":{"t":"oops","code":401}},
            {"class":"quota","match":"^quota(?:, back (?<when>.*))?","reset":"when"},
            {"class":"rate_limit","where":{"t":"oops","code":429},"reset":"wait"},
            {"class":"offline","match":"^down","stream":"stderr"},
            {"class":"context","exit":[7]}]"#,
    )
}

fn class(said: &Said) -> Option<FaultClass> {
    said.fault.as_ref().map(|fault| fault.class)
}

// cases: 38, 40
#[test]
fn an_error_is_no_answer_unless_an_answer_follows() {
    let profile = events();
    let say = r#"{"t":"say","text":"hi"}"#;
    let oops = r#"{"t":"oops","why":"quota, back in 2h","code":401}"#;
    let tool = r#"{"t":"tool"}"#;
    let gone_on = read(
        &profile,
        &format!("{oops}\n{tool}"),
        &CallEnd::TimedOut(9),
        "",
    );
    assert_eq!((class(&gone_on), gone_on.error), (None, None));
    let stuck = read(
        &profile,
        &format!("{tool}\n{oops}"),
        &CallEnd::TimedOut(9),
        "",
    );
    assert_eq!(class(&stuck), Some(FaultClass::Auth));
    for (stdout, end, text, error, fault) in [
        (format!("{say}\n"), OK, Some("hi"), None, None),
        (format!("{oops}\n{say}"), OK, Some("hi"), None, None),
        (
            format!("{say}\n{oops}"),
            OK,
            None,
            Some("quota, back in 2h"),
            Some(FaultClass::Auth),
        ),
        // The tool exits badly because of what it has overcome.
        (
            format!("{oops}\n{say}"),
            CallEnd::Exited(1),
            None,
            Some("quota, back in 2h"),
            Some(FaultClass::Auth),
        ),
        // It was ended from outside while it was at something else.
        (
            format!("{oops}\n{say}"),
            CallEnd::TimedOut(9),
            Some("hi"),
            None,
            None,
        ),
        (
            say.to_owned(),
            CallEnd::Exited(7),
            Some("hi"),
            None,
            Some(FaultClass::Context),
        ),
        (String::new(), OK, None, None, None),
    ] {
        let said = read(&profile, &stdout, &end, "");
        assert_eq!(said.text.as_deref(), text, "{stdout}");
        assert_eq!(said.error.as_deref(), error, "{stdout}");
        assert_eq!(class(&said), fault, "{stdout}");
    }
}

// cases: 34, 36, 43
#[test]
fn faults_are_tried_in_their_order_and_at_the_start_of_lines() {
    let profile = events();
    let reset = |said: &Said| said.fault.as_ref().and_then(|fault| fault.reset.clone());
    let said = read(
        &profile,
        r#"{"t":"oops","why":"quota, back in 2h"}"#,
        &OK,
        "",
    );
    assert_eq!(class(&said), Some(FaultClass::Quota));
    assert_eq!(reset(&said), Some(Reset::After(Duration::from_secs(7200))));
    let said = read(&profile, r#"{"t":"oops","code":429,"wait":"90"}"#, &OK, "");
    assert_eq!(class(&said), Some(FaultClass::RateLimit));
    assert_eq!(reset(&said), Some(Reset::After(Duration::from_secs(90))));
    // Standard error counts only when the call failed, from the start of a line, in its last part.
    let long = format!("down\n{}", "x".repeat(70_000));
    for (stderr, end, fault) in [
        ("it is down", CallEnd::Exited(1), None),
        (
            "noise\n\u{1b}[31mdown\u{1b}[0m",
            CallEnd::Exited(1),
            Some(FaultClass::Offline),
        ),
        ("down", CallEnd::Signaled(9), Some(FaultClass::Offline)),
        ("down", OK, None),
        ("quota", CallEnd::Exited(1), Some(FaultClass::Quota)),
        (long.as_str(), CallEnd::Exited(1), None),
    ] {
        assert_eq!(
            class(&read(&profile, "", &end, stderr)),
            fault,
            "{stderr:.20}"
        );
    }
}

// cases: 133, 137
#[test]
fn usage_is_added_up_exactly_or_unknown() {
    let profile = events();
    let tokens = |input, cached, output| {
        Some(Tokens {
            input,
            cached,
            output,
        })
    };
    let one = r#"{"t":"use","id":"a","in":1,"cache":2,"out":3}"#;
    let other = r#"{"t":"use","id":"b","in":10,"out":30}"#;
    let behind_one = |event: &str| format!("{one}\n{event}");
    for (stdout, expected, lacks) in [
        (String::new(), None, false),
        (r#"{"t":"use","id":"a"}"#.to_owned(), None, true),
        (r#"{"t":"use","in":null,"out":3}"#.to_owned(), None, true),
        (one.to_owned(), tokens(3, 2, 3), false),
        (
            format!("{one}\n{one}\n{other}\n{other}"),
            tokens(13, 2, 33),
            false,
        ),
        (
            behind_one(r#"{"t":"use","in":-1,"out":1}"#),
            tokens(3, 2, 3),
            true,
        ),
        (
            behind_one(r#"{"t":"use","in":"5","out":1}"#),
            tokens(3, 2, 3),
            true,
        ),
        (behind_one(r#"{"t":"use"}"#), tokens(3, 2, 3), true),
        (
            behind_one(r#"{"t":"end","in":5,"out":6}"#),
            tokens(5, 0, 6),
            false,
        ),
        // The total that is promised for the end is not there: what came before stands.
        (behind_one(r#"{"t":"end"}"#), tokens(3, 2, 3), false),
    ] {
        let used = read(&profile, &stdout, &OK, "").used;
        assert_eq!((used.tokens, used.uncounted), (expected, lacks), "{stdout}");
    }
    let usd = |text: &str| text.parse::<Usd>().ok();
    let tenth = "{\"t\":\"bill\",\"usd\":0.1}\n";
    for (stdout, expected, lacks) in [
        (r#"{"t":"bill"}"#.to_owned(), None, true),
        (r#"{"t":"bill","usd":0}"#.to_owned(), usd("0"), false),
        (
            r#"{"t":"bill","usd":0.012720000000000002}"#.to_owned(),
            usd("0.012721"),
            false,
        ),
        (
            r#"{"t":"bill","usd":1.2e-3}"#.to_owned(),
            usd("0.0012"),
            false,
        ),
        (r#"{"t":"bill","usd":-1}"#.to_owned(), None, true),
        (r#"{"t":"bill","usd":"$1,234.50"}"#.to_owned(), None, true),
        (tenth.repeat(10_000), usd("1000"), false),
        (
            format!("{tenth}{}", r#"{"t":"bill","usd":null}"#),
            usd("0.1"),
            true,
        ),
        (format!("{tenth}{}", r#"{"t":"bill"}"#), usd("0.1"), true),
        // Tokens of a model that the harness knows no price of, beside those of one that has one.
        (
            format!("{tenth}{one}\n{}", r#"{"t":"bill","usd":0}"#),
            usd("0.1"),
            true,
        ),
    ] {
        let used = read(&profile, &stdout, &OK, "").used;
        assert_eq!(
            (used.cost, used.unpriced),
            (expected, lacks),
            "{stdout:.60}"
        );
    }
}

// rows: D-15
#[test]
fn what_was_used_so_far_is_known_during_the_call() {
    let profile = events();
    let mut reader = Reader::new(&profile);
    reader.push(
        b"{\"t\":\"use\",\"id\":\"a\",\"in\":1,\"out\":1}\n{\"t\":\"use\",\"id\":\"a\",\"in\":2,",
    );
    assert_eq!(reader.used().tokens.map(Tokens::total), Some(2));
    reader.push(b"\"out\":2}\n");
    assert_eq!(reader.used().tokens.map(Tokens::total), Some(4));
    assert!(!reader.is_done());
    reader.push(b"{\"t\":\"end\",\"session\":\"s1\"}\n");
    assert!(reader.is_done());
    assert_eq!(reader.finish(&OK, b"").session.as_deref(), Some("s1"));
}

// rows: D-8
#[test]
fn paths_go_through_arrays_and_members() {
    for (path, found) in [
        ("a.b", Some("1\n2")),
        ("a.1.b", Some("2")),
        ("o.*.x", Some("y\ntrue")),
        ("o.*", None),
        ("o.3.x", Some("true")),
        ("a.b.c", None),
        ("deep.x", Some("in")),
        ("twice", Some("second")),
        ("k\u{e9}y", Some("escaped")),
    ] {
        let profile = profile(
            &format!(r#"{{"format":"json","final":{{"path":"{path}"}}}}"#),
            "[]",
        );
        let text = r#"{"a":[{"b":1},{"b":"2"},{"b":null}],"o":{"p":{"x":"y"},"3":{"x":true}},
            "deep":[[{"x":"in"}]],"twice":"first","twice":"second","k\u00e9y":"escaped"}"#;
        assert_eq!(
            read(&profile, text, &OK, "").text.as_deref(),
            found,
            "{path}"
        );
    }
}

// rows: D-8
#[test]
fn noise_before_and_between_json_is_passed_over() {
    let json = profile(r#"{"format":"json","final":{"path":"r"}}"#, "[]");
    for text in [
        "warning: [x\n{\n \"r\": \"hi\"\n}\nbye {",
        "[1, {\"r\":\"no\"}, {\"r\":\"hi\"}]",
        "{\"r\":\"no\"} {\"r\":\"hi\"}",
    ] {
        assert_eq!(
            read(&json, text, &OK, "").text.as_deref(),
            Some("hi"),
            "{text}"
        );
    }
    let said = read(
        &events(),
        "loading\n{not json}\n  {\"t\":\"say\",\"text\":\"hi\"}  \r\n[]\n\"x\"\n",
        &OK,
        "",
    );
    assert_eq!(said.text.as_deref(), Some("hi"));
}

// rows: D-8
// cases: 40
#[test]
fn what_was_said_before_the_last_tool_is_no_answer() {
    for (take, told) in [("join", "hi there"), ("last", "there")] {
        let profile = profile(
            &format!(
                r#"{{"format":"ndjson","final":{{"where":{{"t":"say"}},"path":"text","take":"{take}","since":{{"t":"tool"}}}}}}"#
            ),
            "[]",
        );
        let say = |text: &str| format!("{{\"t\":\"say\",\"text\":\"{text}\"}}\n");
        let tool = "{\"t\":\"tool\"}\n";
        let answered = [&say("no"), tool, &say("hi "), &say("there")].concat();
        let text = |output: &str| read(&profile, output, &OK, "").text;
        assert_eq!(text(&answered).as_deref(), Some(told));
        // Nothing follows the tool but silence, or a message without words.
        assert_eq!(text(&[&answered, tool].concat()), None);
        assert_eq!(text(&[&answered, tool, &say("")].concat()), None);
    }
}

// cases: 44
#[test]
fn a_text_is_the_answer_only_with_its_mark_if_one_is_asked_for() {
    let plain = profile(
        r#"{"format":"text"}"#,
        r#"[{"class":"auth","match":"^no key"}]"#,
    );
    assert_eq!(
        read(&plain, "no key\nhi\n", &OK, "").text.as_deref(),
        Some("no key\nhi\n")
    );
    assert_eq!(read(&plain, " \n", &OK, "").text, None);
    let marked = profile(
        r#"{"format":"text","final":{"match":"^bye"},"error":[{"match":"^no"}]}"#,
        "[]",
    );
    assert_eq!(
        read(&marked, "no\nhi\nbye", &OK, "").text.as_deref(),
        Some("no\nhi\nbye")
    );
    assert_eq!(
        read(&marked, "hi\nbye\nno", &OK, "").error.as_deref(),
        Some("no")
    );
    assert_eq!(read(&marked, "hi", &OK, "").text, None);
    let group = profile(
        r#"{"format":"text","final":{"match":"^answer: (.*)"}}"#,
        "[]",
    );
    assert_eq!(
        read(&group, "x\nanswer: 42\ny", &OK, "").text.as_deref(),
        Some("42")
    );
}

// cases: 65
#[test]
fn what_is_too_long_is_passed_over_or_cut() {
    const MIB: usize = 1024 * 1024;
    let long = format!("{{\"t\":\"say\",\"text\":\"{}\"}}\n", "x".repeat(17 * MIB));
    let said = read(
        &events(),
        &format!("{long}{}", r#"{"t":"say","text":"hi"}"#),
        &OK,
        "",
    );
    assert_eq!((said.text.as_deref(), said.unreadable), (Some("hi"), 1));
    let json = profile(r#"{"format":"json","final":{"path":"r"}}"#, "[]");
    let said = read(&json, &" ".repeat(51 * MIB), &OK, "");
    assert_eq!((said.text, said.unreadable), (None, 1));
    let plain = profile(r#"{"format":"text"}"#, "[]");
    let said = read(&plain, &"é".repeat(10 * MIB), &OK, "");
    assert_eq!(said.text.map(|text| text.len()), Some(4 * MIB));
    let error = format!("{{\"t\":\"oops\",\"why\":\"{}\"}}", "a\\n".repeat(100_000));
    let error = read(&events(), &error, &OK, "").error.unwrap();
    assert!(error.chars().count() < 600 && !error.contains('\n'));
}

/// Bytes that look like an output more often than not.
fn output() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        4 => prop::sample::select(vec![
            r#"{"t":"say","text":"hi é"}"#, r#"{"t":"oops","why":"quota","code":401}"#,
            r#"{"t":"use","id":"a","in":1,"cache":2,"out":3}"#, r#"{"t":"bill","usd":0.1}"#,
            r#"{"t":"end","session":"s"}"#, r#"[{"t":"say","text":1}]"#, "{", "}", "[", "\"", "\\",
            "\n", "\n", "\r\n", "bye", "no: 12", "Cost: 1.2k",
        ]).prop_map(|text| text.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..8),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    // cases: 137
    #[test]
    fn pieces_of_any_size_say_the_same_and_nothing_panics(
        stdout in output(), stderr in output(), sizes in prop::collection::vec(1_usize..50, 1..20), code in 0..3,
    ) {
        let text = r#"{"format":"text","final":{"match":"^bye"},"error":[{"match":"^no: (.*)"}],
            "usage":{"match":"^Cost: (?<input>\\S+)(?<output>.)"},"cost":{"match":"^Cost: (\\S+)"}}"#;
        let document = r#"{"format":"json","final":{"where":{"t":"say"},"path":"text"},"error":[{"path":"why"}]}"#;
        for profile in [events(), profile(text, "[]"), profile(document, "[]")] {
            let end = CallEnd::Exited(code);
            let mut whole = Reader::new(&profile);
            whole.push(&stdout);
            let whole = whole.finish(&end, &stderr);
            let mut reader = Reader::new(&profile);
            let mut rest = &stdout[..];
            for size in sizes.iter().cycle() {
                let (piece, behind) = rest.split_at((*size).min(rest.len()));
                reader.push(piece);
                let _used = (reader.used(), reader.is_done());
                rest = behind;
                if rest.is_empty() {
                    break;
                }
            }
            prop_assert_eq!(reader.finish(&end, &stderr), whole);
        }
    }
}
