//! The same output, whenever and wherever the gate ran (decision D-19).

/// What stands for a duration.
const DURATION: &str = "<time>";
/// What stands for a temporary path.
const PATH: &str = "<tmp>";
/// Where temporary files are.
const FOLDERS: [&str; 5] = [
    "/tmp/",
    "/var/tmp/",
    "/private/tmp/",
    "/var/folders/",
    "/private/var/folders/",
];
/// The units of a duration, longer ones first.
const UNITS: [&str; 17] = [
    "milliseconds",
    "microseconds",
    "nanoseconds",
    "minutes",
    "seconds",
    "minute",
    "second",
    "secs",
    "mins",
    "sec",
    "min",
    "ms",
    "µs",
    "us",
    "ns",
    "s",
    "m",
];

/// Replaces durations and temporary paths in an output, and nothing else.
///
/// `places` are further folders that differ from run to run, such as the clean
/// checkout; what stands behind them in a path stays.
#[must_use]
pub fn mask(output: &str, places: &[&str]) -> String {
    let text = crate::text::without_controls(output);
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    let mut before = ' ';
    while let Some(c) = rest.chars().next() {
        let starts_word = !(before.is_alphanumeric() || matches!(before, '_' | '.' | '/'));
        let masked = if starts_word { one(rest, places) } else { None };
        let (length, shown) = masked.unwrap_or_else(|| (c.len_utf8(), ""));
        if shown.is_empty() {
            out.push_str(&rest[..length]);
        } else {
            out.push_str(shown);
        }
        before = rest[..length].chars().next_back().unwrap_or(c);
        rest = &rest[length..];
    }
    out
}

/// What starts `text` and is replaced: its length, and by what.
fn one(text: &str, places: &[&str]) -> Option<(usize, &'static str)> {
    let place = places
        .iter()
        .filter(|place| !place.is_empty() && text.starts_with(**place))
        .map(|place| place.len())
        .max();
    if let Some(length) = place {
        return Some((length, PATH));
    }
    if FOLDERS.iter().any(|folder| text.starts_with(folder)) {
        let ends = |c: char| {
            c.is_whitespace() || matches!(c, '"' | '\'' | '`' | ':' | ',' | ')' | ']' | '>')
        };
        let length = text.find(ends).unwrap_or(text.len());
        return Some((length, PATH));
    }
    duration(text).map(|length| (length, DURATION))
}

/// The length of a duration at the start of `text`: `0.12s`, `3 ms`, `1m 2.5s`,
/// `2 seconds`.
fn duration(text: &str) -> Option<usize> {
    let mut length = quantity(text)?;
    // A duration can have more than one part.
    loop {
        let rest = &text[length..];
        let gap = usize::from(rest.starts_with(' '));
        match quantity(&rest[gap..]) {
            Some(more) => length += gap + more,
            None => return Some(length),
        }
    }
}

fn quantity(text: &str) -> Option<usize> {
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    if digits == 0 {
        return None;
    }
    let mut length = digits;
    if let Some(fraction) = text[length..].strip_prefix('.') {
        let more = fraction.find(|c: char| !c.is_ascii_digit())?;
        if more == 0 {
            return None;
        }
        length += 1 + more;
    }
    let gap = usize::from(text[length..].starts_with(' '));
    let rest = &text[length + gap..];
    let unit = UNITS.iter().find(|unit| {
        // `3 m` and `4 s` are more often something else.
        (gap == 0 || unit.len() > 1)
            && rest.strip_prefix(**unit).is_some_and(|after| {
                !after.starts_with(|c: char| c.is_alphanumeric() || c == '_')
                    || after.starts_with(|c: char| c.is_ascii_digit())
            })
    })?;
    Some(length + gap + unit.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    // rows: D-19
    #[test]
    fn durations_and_temporary_paths_are_masked_and_nothing_else() {
        for (output, masked) in [
            ("finished in 0.12s", "finished in <time>"),
            ("ok  \tpkg\t0.012s", "ok  \tpkg\t<time>"),
            ("PASS [   0.005s] a b", "PASS [   <time>] a b"),
            ("took 1m 2.5s, then 3ms", "took <time>, then <time>"),
            ("1m2s", "<time>"),
            ("12 seconds and 3 ms", "<time> and <time>"),
            ("(4.2 µs)", "(<time>)"),
            ("see /tmp/tmp.Ab12/x.log: no", "see <tmp>: no"),
            ("\"/var/folders/a/b\"", "\"<tmp>\""),
            ("at /srv/checkout-7/src/a.rs:3", "at <tmp>/src/a.rs:3"),
            // All of these are what the work is about.
            ("3 passed, 2 failed", "3 passed, 2 failed"),
            ("expected 12 got 13", "expected 12 got 13"),
            ("v1.2s3 0x10s a5s", "v1.2s3 0x10s a5s"),
            ("3 m wide and 4 s", "3 m wide and 4 s"),
            ("pid 4711", "pid 4711"),
            ("/home/tmp/x", "/home/tmp/x"),
            ("2024-01-02", "2024-01-02"),
            ("\u{1b}[31mred\u{1b}[0m", "red"),
        ] {
            assert_eq!(mask(output, &["/srv/checkout-7"]), masked, "{output:?}");
        }
    }

    proptest! {
        // rows: D-19
        #[test]
        fn the_same_but_for_its_durations_is_the_same(
            words in prop::collection::vec("[a-z]{1,6}", 1..6),
            one in 0_u32..5_000,
            other in 0_u32..5_000,
        ) {
            let text = |time: u32| {
                words.iter().map(|word| format!("{word} in {}.{:02}s\n", time / 100, time % 100)).collect::<String>()
            };
            prop_assert_eq!(mask(&text(one), &[]), mask(&text(other), &[]));
        }

        #[test]
        fn any_text_can_be_masked_and_once_is_enough(text in any::<String>()) {
            let masked = mask(&text, &["/a"]);
            prop_assert_eq!(mask(&masked, &[]), masked);
        }
    }
}
