//! Malformed profiles: each is refused with its place, its key and what to do.

use loop_core::profile::{Profile, Reader};

/// Marks the place at which the fault has to be reported; it is not part of the text.
const MARK: char = '»';

/// A profile with `output` and, behind it, `rest`.
fn with(output: &str, rest: &str) -> String {
    let head = r#"{"v":1,"name":"a","command":["a"],"prompt_via":"stdin","output":"#;
    format!("\n{head}{output}{rest}}}")
}

#[track_caller]
fn refused(marked: &str, message: &str) {
    let (before, _) = marked.split_once(MARK).expect("the text has a mark");
    let column = before
        .rsplit('\n')
        .next()
        .unwrap_or_default()
        .chars()
        .count()
        + 1;
    let line = before.matches('\n').count() + 1;
    let text = marked.replace(MARK, "");
    let error = Profile::parse(&text).expect_err(&text);
    let expected = format!("a.json:{line}:{column}: {message}");
    assert_eq!(error.with_file("a.json").to_string(), expected, "{text}");
}

const TEXT: &str = r#"{"format":"text"}"#;

// rows: D-8
#[test]
fn keys_and_types_are_strict() {
    for (text, message) in [
        (
            "»",
            "the file is empty; write an object with at least `v`, `name`, `command`, `prompt_via` and `output`",
        ),
        ("»[]", "expected an object, found an empty array"),
        ("»{\"v\":1}", "name: missing key; add it"),
    ] {
        refused(text, message);
    }
    refused(
        &with(TEXT, "").replace("\"v\":1", "\"v\":»2"),
        "v: 2 is a version of the format that this loop does not know; write 1, or update it",
    );
    for (rest, message) in [
        (
            r#",»"faultz":[]"#,
            "faultz: unknown key; did you mean faults?",
        ),
        (
            r#",»"max_usd":"x""#,
            "max_usd: unknown key; did you mean limits.max_usd?",
        ),
        (
            r#",»"x-y":"x""#,
            "x-y: unknown key; use one of $schema, v, name, command, prompt_via, max_prompt_bytes, \
             dash, version, idle_timeout_seconds, output, faults, env, state_dirs, limits, offline",
        ),
        (
            r#","faults":[{"class":»"slow","exit":[1]}]"#,
            "faults[0].class: unknown value \"slow\"; use one of auth, rate_limit, quota, offline, context",
        ),
        (
            r#","idle_timeout_seconds":»0"#,
            "idle_timeout_seconds: expected a whole number from 1 to 604800, found 0",
        ),
    ] {
        refused(&with(TEXT, rest), message);
    }
    for (output, message) in [
        (
            r#"{"format":»"yaml"}"#,
            "output.format: unknown value \"yaml\"; use one of text, json, ndjson",
        ),
        (
            r#"{"format":"text","usage":null,»"usage":null}"#,
            "output.usage: duplicate key; keep one of the two",
        ),
        (
            r#"{"format":"ndjson","final":{"path":»"a..b"}}"#,
            "output.final.path: \"a..b\" is no path; write up to 16 keys with dots between them, such as usage.input",
        ),
        (
            r#"{"format":"ndjson","done":»[]}"#,
            "output.done: the list is empty; leave the key out",
        ),
        (
            r#"{"format":"ndjson","done":{"where":{"n":»1.5}}}"#,
            "output.done.where.n: expected a string, a whole number, true, false or null, found 1.5",
        ),
    ] {
        refused(&with(output, ""), message);
    }
}

// rows: D-8
// cases: 34, 36
#[test]
fn patterns_have_to_be_tied_to_the_start_of_a_line() {
    let fault = |pattern: &str| {
        with(
            TEXT,
            &format!(r#","faults":[{{"class":"auth","match":{pattern}}}]"#),
        )
    };
    refused(
        &fault("»\"rate limit\""),
        "faults[0].match: the pattern has to start with ^, so that it finds what a tool says of \
         itself and not what somebody talks about",
    );
    for unbalanced in ["^(", "^)|(?:429", "^a)", "^(?x)a # (", r"^[\\"] {
        let error = Profile::parse(&fault(&format!("\"{unbalanced}\"")))
            .expect_err(unbalanced)
            .to_string();
        assert!(error.ends_with("; write a regular expression"), "{error}");
    }
    for empty in ["^", "^|429", "^a?", "^(?:429|)", "^$"] {
        refused(
            &fault(&format!("»\"{empty}\"")),
            "faults[0].match: the pattern fits an empty line; write how the line starts",
        );
    }
    for any in [
        "^.*429",
        "^.+?429",
        "^.{2,}429",
        "^no|.*429",
        "^(?i)(?<a>x|(?:.*429))",
        "^(?:no)?\\\\s*.*429",
    ] {
        refused(
            &fault(&format!("»\"{any}\"")),
            "faults[0].match: the pattern begins with any text at all; write how the line starts",
        );
    }
    refused(
        &with(r#"{"format":"text","error":[{"match":»"^.*no"}]}"#, ""),
        "output.error[0].match: the pattern begins with any text at all; write how the line starts",
    );
    for tight in [
        "^a|b",
        "^no .*429",
        "^(?:no|.{0,80}429)",
        "^[.*]+x",
        "^\\\\(.*",
    ] {
        Profile::parse(&fault(&format!("\"{tight}\""))).expect(tight);
    }
}

// rows: D-8
#[test]
fn keys_that_contradict_each_other_are_refused() {
    for (output, message) in [
        (
            r#"»{"format":"ndjson"}"#,
            "output: there is no final; say where the answer stands",
        ),
        (
            r#"{"format":"text","final":»{"path":"a"}}"#,
            "output.final: text has no fields; give a match, nothing else",
        ),
        (
            r#"{"format":"text","final":»{}}"#,
            "output.final: there is no match; give the pattern",
        ),
        (
            r#"{"format":"json","final":»{"match":"^a"}}"#,
            "output.final: match is for text; give where and path",
        ),
        (
            r#"{"format":"json","final":»{"where":{}}}"#,
            "output.final: there is no path; say where the text stands",
        ),
        (
            r#"{"format":"text","usage":»{"match":"^(?<input>.)"}}"#,
            "output.usage: tokens need an input and an output; say where both stand",
        ),
        (
            r#"{"format":"text","cost":»{"match":"^Cost"}}"#,
            "output.cost: say where the amount stands: a path, or a group of the match",
        ),
        (
            r#"{"format":"text","error":[{"match":"^a"},»{}]}"#,
            "output.error[1]: there is no match; give the pattern",
        ),
    ] {
        refused(&with(output, ""), message);
    }
    for (rest, message) in [
        (
            r#""faults":[»{"class":"auth"}]"#,
            "faults[0]: nothing means this fault; give where, match or exit",
        ),
        (
            r#""faults":[»{"class":"auth","where":{"a":1}}]"#,
            "faults[0]: text has no fields; give a match or exit",
        ),
        (
            r#""faults":[»{"class":"auth","exit":[1],"stream":"stderr"}]"#,
            "faults[0]: stream says where match is tried; give a match",
        ),
        (
            r#""faults":[{"class":"auth","match":"^a","reset":»"when"}]"#,
            "faults[0].reset: reset is no group of match, and no path in the event of where; name one",
        ),
        (
            r#""faults":[{"class":"auth","exit":»[1,0]}]"#,
            "faults[0].exit: 0 is how a call ends that went well; name other codes",
        ),
        (
            r#""limits":{"max_usd":»""}"#,
            "limits.max_usd: this is no option; write one that starts with -, such as --max-budget-usd",
        ),
        (
            r#""limits":{"max_usd":»"max-usd"}"#,
            "limits.max_usd: this is no option; write one that starts with -, such as --max-budget-usd",
        ),
        (
            r#""offline":{"files":»{"../a":""}}"#,
            "offline.files: a path leaves the folder; name files inside it",
        ),
    ] {
        refused(&with(TEXT, &format!(",{rest}")), message);
    }
    for (command, via, message) in [
        (
            r#"»["a"]"#,
            "argv",
            "command: the prompt is an argument, but none holds {prompt_content}; put it in",
        ),
        (
            r#"»["a"]"#,
            "file",
            "command: the prompt is a file, but no argument holds {prompt}; put it in",
        ),
        (
            r#"»["a","{prompt_content}"]"#,
            "stdin",
            "command: the prompt comes by standard input; take {prompt_content} out",
        ),
    ] {
        let text = with(TEXT, "")
            .replace("[\"a\"]", command)
            .replace("stdin", via);
        refused(&text, message);
    }
}

#[test]
fn a_key_that_is_null_is_as_if_it_were_not_there() {
    let text = with(
        r#"{"format":"text","final":null,"usage":null}"#,
        r#","offline":null,"dash":null"#,
    );
    let profile = Profile::parse(&text).unwrap();
    assert_eq!(profile.max_prompt_bytes(), 131_000);
    assert!(!profile.refuses_dash());
    assert!(!profile.reports_cost() && !profile.reports_tokens());
    assert!(profile.offline().is_none() && profile.idle_timeout().is_none());
    assert!(!Reader::new(&profile).is_done());
}
