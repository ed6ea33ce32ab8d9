//! `cargo test`: one summary for each test program, all of which count.

use super::{Tally, counted};

/// Sums up the summaries; `None` when there is none.
pub(super) fn read(text: &str) -> Option<Tally> {
    let mut tally = Tally::default();
    let mut has_summary = false;
    let mut program = String::new();
    for line in text.lines() {
        if let Some(summary) = line.strip_prefix("test result: ") {
            has_summary |= add(&mut tally, summary).is_some();
        } else if let Some(started) = started(line) {
            program = started;
        } else if let Some(name) = executed(line) {
            tally.name(format!("{program}{name}"));
        }
    }
    has_summary.then_some(tally)
}

/// The program in `Running unittests src/lib.rs (target/debug/deps/app-0123abcd)`
/// or `Doc-tests app`, as the start of its tests' names: two programs can have
/// tests of one name.
fn started(line: &str) -> Option<String> {
    let line = line.trim_start();
    if let Some(name) = line.strip_prefix("Doc-tests ") {
        return Some(format!("{name} (doc) "));
    }
    let (_, path) = line.strip_prefix("Running ")?.rsplit_once(" (")?;
    let file = path.strip_suffix(')')?.rsplit('/').next()?;
    let (name, hash) = file.rsplit_once('-')?;
    let is_hash = hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash.then(|| format!("{name} "))
}

/// `ok. 3 passed; 0 failed; 1 ignored; 0 measured; 2 filtered out; finished in 0.00s`
fn add(tally: &mut Tally, summary: &str) -> Option<()> {
    let counts = summary
        .strip_prefix("ok. ")
        .or_else(|| summary.strip_prefix("FAILED. "))?;
    let of = |wanted: &str| {
        let mut parts = counts.split("; ").filter_map(counted);
        parts.find(|(_, word)| *word == wanted).map(|found| found.0)
    };
    let (passed, failed) = (of("passed")?, of("failed")?);
    let skipped = of("ignored").unwrap_or(0);
    tally.passed = tally.passed.saturating_add(passed);
    tally.failed = tally.failed.saturating_add(failed);
    tally.skipped = tally.skipped.saturating_add(skipped);
    Some(())
}

/// The name in `test a::b ... ok`, if the test ran.
fn executed(line: &str) -> Option<String> {
    let (name, result) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
    let ran = result == "ok" || result.starts_with("FAILED") || result.starts_with("ok <");
    let name = name.strip_suffix(" - should panic").unwrap_or(name);
    ran.then(|| without_line(name))
}

/// Takes the line out of the name of a documentation test: it moves with every
/// edit above it.
fn without_line(name: &str) -> String {
    let parts = name.split_once(" (line ").and_then(|(before, rest)| {
        let (line, after) = rest.split_once(')')?;
        let is_number = line.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then_some((before, after))
    });
    match parts {
        Some((before, after)) => format!("{before}{after}"),
        None => name.to_owned(),
    }
}
