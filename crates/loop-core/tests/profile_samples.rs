//! What real tools printed, read by their profiles.
//!
//! `harness_samples/<sample>/` holds what a tool printed on `stdout` and `stderr`, with long lists
//! of no interest cut short; `expected.tsv` says how it ended and what has to be read.

#![allow(clippy::unwrap_used, clippy::disallowed_methods)] // a test may panic and read files

use loop_core::answer::CallEnd;
use loop_core::profile::{FaultClass, Profile, Reader, Said};
use std::fs;
use std::path::PathBuf;

const COLUMNS: &str = "sample\tprofile\tformat\tend\ttext\terror\tfault\treset\ttokens\tcost";

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/harness_samples")
}

fn profile(name: &str) -> Profile {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../templates/harnesses");
    let path = root.join(format!("{name}.json"));
    let text = fs::read_to_string(&path).unwrap();
    Profile::parse(&text).unwrap_or_else(|error| panic!("{}", error.with_file(path.display())))
}

/// An exit code, or the seconds after which the call was ended.
fn end(text: &str) -> CallEnd {
    match text.split_once(' ') {
        Some(("timeout", seconds)) => CallEnd::TimedOut(seconds.parse().unwrap()),
        _ => CallEnd::Exited(text.parse().unwrap()),
    }
}

fn class(class: FaultClass) -> String {
    let text = serde_json::to_string(&class).unwrap();
    text.trim_matches('"').to_owned()
}

fn or_dash(text: Option<String>) -> String {
    text.unwrap_or_else(|| "-".to_owned())
}

/// Puts what was read into the form of the table.
fn row(said: &Said) -> [String; 6] {
    let text = said.text.as_ref().map(|text| match text.chars().count() {
        0..=100 => serde_json::to_string(text).unwrap(),
        // Where the answer is all of the output, its size is enough.
        _ => format!("{} bytes", text.len()),
    });
    let error = if said.error.is_some() { "yes" } else { "no" };
    let fault = said.fault.as_ref();
    let reset = fault.is_some_and(|fault| fault.reset.is_some());
    let tokens = said.used.tokens;
    let tokens = tokens.map(|used| format!("{}/{}/{}", used.input, used.cached, used.output));
    [
        or_dash(text),
        error.to_owned(),
        or_dash(fault.map(|fault| class(fault.class))),
        if reset { "yes" } else { "no" }.to_owned(),
        or_dash(tokens),
        or_dash(said.used.cost.map(|cost| cost.to_string())),
    ]
}

fn read(name: &str, sample: &str, ended: &str, piece: usize) -> Said {
    let stream = |stream: &str| fs::read(folder().join(sample).join(stream)).unwrap_or_default();
    let profile = profile(name);
    let mut reader = Reader::new(&profile);
    for piece in stream("stdout").chunks(piece) {
        reader.push(piece);
    }
    reader.finish(&end(ended), &stream("stderr"))
}

// rows: D-4, D-8, D-15
// cases: 34, 36, 38, 40, 43, 44, 45, 133, 137
#[test]
fn every_recorded_run_is_read_as_the_table_says() {
    let table = fs::read_to_string(folder().join("expected.tsv")).unwrap();
    let mut lines = table.lines();
    assert_eq!(lines.next(), Some(COLUMNS));
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in lines {
        let cells: Vec<&str> = line.split('\t').collect();
        let [sample, profile, format, ended, expected @ ..] = cells.as_slice() else {
            panic!("{line}");
        };
        let said = read(profile, sample, ended, 1000);
        let found = row(&said);
        if found != expected {
            let head = [sample, profile, format, ended].map(|cell| (*cell).to_owned());
            let found = [&head[..], &found[..]].concat().join("\t");
            wrong.push(format!("- {line}\n+ {found}\n  {said:?}"));
        }
        count += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(count, 155);
}

#[test]
fn every_sample_is_in_the_table() {
    let table = fs::read_to_string(folder().join("expected.tsv")).unwrap();
    let mut named: Vec<&str> = table
        .lines()
        .skip(1)
        .filter_map(|line| line.split('\t').next())
        .collect();
    let mut found: Vec<String> = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    named.sort_unstable();
    found.sort_unstable();
    assert_eq!(named, found);
}

// cases: 34, 44
#[test]
fn a_run_that_went_well_is_never_blamed_for_what_it_talks_about() {
    let errors = "litellm.RateLimitError: 429\n[API Error: 429 Rate limit reached]\n429 Rate limit\n\
                  Not logged in\nYou've hit your usage limit. try again at 5:33 PM.\n\
                  exceeded retry limit, last status: 429 Too Many Requests\n";
    let text = serde_json::to_string(errors).unwrap();
    for (name, event) in [
        (
            "opencode",
            format!(r#"{{"type":"text","part":{{"text":{text}}}}}"#),
        ),
        (
            "codex",
            format!(
                r#"{{"type":"item.completed","item":{{"type":"agent_message","text":{text}}}}}"#
            ),
        ),
        (
            "claude",
            format!(r#"{{"type":"result","is_error":false,"result":{text}}}"#),
        ),
        (
            "pi",
            format!(
                r#"{{"type":"message_end","message":{{"role":"assistant","content":[{{"type":"text","text":{text}}}],"stopReason":"stop"}}}}"#
            ),
        ),
        (
            "gemini",
            format!(r#"{{"type":"message","role":"assistant","content":{text},"delta":true}}"#),
        ),
        (
            "qwen",
            format!(r#"{{"type":"result","is_error":false,"result":{text}}}"#),
        ),
        ("generic", errors.trim_end().to_owned()),
        (
            "aider",
            format!(
                "{errors}Tokens: 1.0k sent, 50 received. Cost: $0.0037 message, $0.0037 session."
            ),
        ),
    ] {
        let profile = profile(name);
        let mut reader = Reader::new(&profile);
        reader.push(event.as_bytes());
        let said = reader.finish(&CallEnd::Exited(0), errors.as_bytes());
        assert_eq!((said.fault, said.error), (None, None), "{name}");
        assert!(said.text.unwrap().contains("429"), "{name}");
    }
}

// cases: 34, 44
#[test]
fn what_other_programs_say_on_standard_error_is_no_fault() {
    let prose = "500 tests ran, 3 failed\n401 errors\n402 files\n403 Forbidden\n429 warnings\n\
                 503 Service Unavailable\n400 lines: prompt is too long\nterminated by signal 9\n\
                 Error: connect ECONNREFUSED 127.0.0.1:5432\nError: Unauthorized\nfetch failed\n\
                 Error: 429 tests failed\nError: Too Many Requests\nConnection error\nOverloaded\n\
                 Authentication failed\nOAuth\nNot logged in\nRate limit reached\nQuota exceeded.\n\
                 Request timed out\nConnection failed\nMissing environment variable: X\n\
                 Prompt is too long\nlitellm.completion: foo\n";
    for name in [
        "aider", "claude", "codex", "gemini", "generic", "opencode", "pi", "qwen",
    ] {
        let profile = profile(name);
        let said = Reader::new(&profile).finish(&CallEnd::Exited(1), prose.as_bytes());
        assert_eq!((said.fault, said.error), (None, None), "{name}");
    }
}

// cases: 34
#[test]
fn a_line_of_aider_is_an_error_only_if_it_names_one() {
    let profile = profile("aider");
    for (line, is_error) in [
        ("litellm.completion: foo", false),
        ("litellm.Timeout: no answer", true),
        ("litellm.BadRequestError: no", true),
        ("litellm.UnknownException: no", true),
    ] {
        let mut reader = Reader::new(&profile);
        reader.push(line.as_bytes());
        let said = reader.finish(&CallEnd::Exited(0), b"");
        assert_eq!(said.error.is_some(), is_error, "{line}");
    }
}
