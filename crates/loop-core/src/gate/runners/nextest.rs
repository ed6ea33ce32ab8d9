//! `cargo nextest run`.

use super::{Tally, counted};

/// Reads the last summary; `None` when there is none.
pub(super) fn read(text: &str) -> Option<Tally> {
    let mut last = None;
    let mut names = Tally::default();
    for line in text.lines() {
        let line = line.trim_start();
        if let Some(summary) = line.strip_prefix("Summary [") {
            // What follows repeats the failures.
            last = last_of(summary, &mut names).or(last);
        } else if last.is_none()
            && let Some(name) = executed(line)
        {
            names.name(name);
        }
    }
    last
}

/// `   0.012s] 5 tests run: 4 passed (1 slow), 1 failed, 2 skipped`
fn last_of(summary: &str, names: &mut Tally) -> Option<Tally> {
    let (_, counts) = summary.split_once("] ")?;
    let (ran, results) = counts.split_once(" run: ")?;
    // With a failure in between: `3/5 tests run`.
    let ran = ran.rsplit_once('/').map_or(ran, |(ran, _)| ran);
    let ran = ran.split(' ').next().unwrap_or(ran);
    ran.parse::<u64>().ok()?;
    let mut tally = std::mem::take(names);
    for (number, word) in split(results).filter_map(counted) {
        match word.split(' ').next() {
            Some("passed") => tally.passed = number,
            Some("skipped") => tally.skipped = number,
            Some("failed" | "exec" | "timed") => tally.failed = tally.failed.saturating_add(number),
            _ => {}
        }
    }
    Some(tally)
}

/// Splits at commas that do not stand in brackets.
fn split(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_u32;
    text.split(move |c| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    })
}

/// The name in `PASS [   0.005s] (1/5) app::bin/app tests::a`.
fn executed(line: &str) -> Option<String> {
    let (status, rest) = line.split_once(" [")?;
    let is_last = matches!(
        status,
        "PASS" | "FAIL" | "TIMEOUT" | "SIGABRT" | "SIGSEGV" | "ABORT"
    );
    let (_, rest) = rest.split_once("] ")?;
    let rest = match rest.trim_start().strip_prefix('(') {
        Some(counted) => counted.split_once(')')?.1,
        None => rest,
    };
    let words: Vec<_> = rest.split_whitespace().collect();
    (is_last && words.len() == 2).then(|| words.join(" "))
}
