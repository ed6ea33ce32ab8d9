//! A small drawing of the latest scores.

use loop_core::Score;
use loop_core::state::State;
use std::env;

/// Scores that are drawn.
const DRAWN: usize = 8;

const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const PLAIN: [char; 8] = ['_', '.', '-', '~', '=', '+', '*', '#'];

/// Draws the scores of the loop's task, oldest first; nothing of fewer than two.
pub(super) fn of(state: &State, blocks: bool) -> String {
    let Some(task) = &state.current_task else {
        return String::new();
    };
    let mut scores = state.progress_of(task).scores;
    // A pass forgets the failing scores, but for this one they led to it.
    let last = state.last_verdict.as_ref();
    let passed = last.filter(|last| last.task == *task && passes(last));
    scores.extend(passed.and_then(|last| last.score()));
    draw(&scores, blocks)
}

fn passes(last: &loop_core::state::LastVerdict) -> bool {
    last.verdict.as_ref().is_some_and(|verdict| verdict.pass)
}

fn draw(scores: &[Score], blocks: bool) -> String {
    if scores.len() < 2 {
        return String::new();
    }
    let levels = if blocks { BLOCKS } else { PLAIN };
    let latest = &scores[scores.len().saturating_sub(DRAWN)..];
    latest.iter().map(|score| levels[level(*score)]).collect()
}

/// Returns which of the eight levels a score from 0 to 1 has.
fn level(score: Score) -> usize {
    let eighths = (score.get() * 7.0).round();
    (0..7_u8).take_while(|n| f64::from(*n) < eighths).count()
}

/// Whether the locale of whoever looks can show more than ASCII.
pub(super) fn blocks_are_shown() -> bool {
    let variables = ["LC_ALL", "LC_CTYPE", "LANG"];
    let mut values = variables.into_iter().filter_map(env::var_os);
    let first = values.find(|value| !value.is_empty());
    first.is_some_and(|locale| is_utf8(&locale.to_string_lossy()))
}

fn is_utf8(locale: &str) -> bool {
    let charset = locale.split_once('.').map_or("", |(_, charset)| charset);
    let charset = charset.split('@').next().unwrap_or_default();
    charset.eq_ignore_ascii_case("utf-8") || charset.eq_ignore_ascii_case("utf8")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scores(values: &[f64]) -> Vec<Score> {
        values
            .iter()
            .map(|value| Score::try_from(*value).unwrap())
            .collect()
    }

    // rows: C-10
    #[test]
    fn scores_are_drawn_from_low_to_high() {
        for (values, blocks, plain) in [
            (&[][..], "", ""),
            (&[0.4], "", ""),
            (&[0.0, 0.3, 0.6, 1.0], "▁▃▅█", "_-=#"),
            (&[0.9, 0.9, 0.1], "▇▇▂", "**."),
            (
                &[1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.5],
                "▁▁▁▁▁▁▁▅",
                "_______=",
            ),
        ] {
            assert_eq!(draw(&scores(values), true), blocks);
            assert_eq!(draw(&scores(values), false), plain);
        }
    }

    // cases: 155
    #[test]
    fn only_a_locale_that_says_so_gets_more_than_ascii() {
        for (locale, utf8) in [
            ("en_US.UTF-8", true),
            ("C.utf8", true),
            ("de_DE.UTF-8@euro", true),
            ("C", false),
            ("POSIX", false),
            ("de_DE.ISO-8859-1", false),
            ("", false),
        ] {
            assert_eq!(is_utf8(locale), utf8, "{locale}");
        }
    }
}
