//! `cargo test`: one summary for each test program, all of which count.

use super::{Tally, counted};

/// Sums up the summaries; `None` when there is none.
pub(super) fn read(text: &str) -> Option<Tally> {
    let mut tally = Tally::default();
    let mut has_summary = false;
    for line in text.lines() {
        if let Some(summary) = line.strip_prefix("test result: ") {
            has_summary |= add(&mut tally, summary).is_some();
        } else if let Some(name) = executed(line) {
            tally.name(name);
        }
    }
    has_summary.then_some(tally)
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
fn executed(line: &str) -> Option<&str> {
    let (name, result) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
    let ran = result == "ok" || result.starts_with("FAILED") || result.starts_with("ok <");
    let name = name.strip_suffix(" - should panic").unwrap_or(name);
    // The line of a documentation test moves with every edit above it.
    let name = match name.rsplit_once(" (line ") {
        Some((name, rest))
            if rest
                .trim_end_matches(')')
                .bytes()
                .all(|b| b.is_ascii_digit()) =>
        {
            name
        }
        _ => name,
    };
    ran.then_some(name)
}
