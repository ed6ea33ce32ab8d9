//! What an implementer may say of its own attempt.

use crate::text::{cut, last_line, without_controls, without_lone_surrogates};
use serde::{Deserialize, Serialize};

/// Characters that a claim keeps.
const MAX_TEXT: usize = 2_000;

/// The implementer's way out, read from the last line of its final text
/// (decision D-4). Nothing else that an implementer says is believed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Claim {
    /// Nothing: the attempt is judged.
    #[default]
    None,
    /// No attempt can succeed until this is supplied: `{"blocked": "…"}`.
    Blocked(String),
    /// Nothing needs doing, for this reason: `{"no_work": "…"}`. Judged like
    /// any other attempt.
    NoWork(String),
}

/// The one line that carries a claim; other keys would make it something else.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    blocked: Option<String>,
    no_work: Option<String>,
}

impl Claim {
    /// Reads the claim from an implementer's final text.
    #[must_use]
    pub fn read(text: &str) -> Self {
        let text = without_controls(text);
        let line = last_line(&text).map(without_lone_surrogates);
        let line = line.and_then(|line| serde_json::from_str::<Line>(&line).ok());
        let said = |text: Option<String>| {
            text.filter(|text| !text.trim().is_empty())
                .map(|text| cut(text.trim(), MAX_TEXT))
        };
        match line.map(|line| (said(line.blocked), said(line.no_work))) {
            Some((Some(what), _)) => Self::Blocked(what),
            Some((None, Some(why))) => Self::NoWork(why),
            _ => Self::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // cases: 104, 129
    #[test]
    fn only_a_last_line_of_the_right_shape_is_a_claim() {
        for (text, claim) in [
            (
                "did it\n{\"blocked\": \"no API key\"}\n\n",
                Claim::Blocked("no API key".to_owned()),
            ),
            (
                "{\"no_work\":\" done before \"}",
                Claim::NoWork("done before".to_owned()),
            ),
            (
                "\u{1b}[0m{\"blocked\":\"x\"}\r\n",
                Claim::Blocked("x".to_owned()),
            ),
            (
                "{\"blocked\":\"x\",\"no_work\":\"y\"}",
                Claim::Blocked("x".to_owned()),
            ),
            (
                r#"{"blocked":"no key \ud83d"}"#,
                Claim::Blocked("no key \u{fffd}".to_owned()),
            ),
            ("{\"blocked\":\"\"}", Claim::None),
            ("{\"blocked\":true}", Claim::None),
            ("{\"blocked\":\"x\",\"pass\":true}", Claim::None),
            ("{\"blocked\":\"x\"}\nbut I went on", Claim::None),
            ("I am blocked", Claim::None),
            ("tests: pass, lint: pass", Claim::None),
            ("", Claim::None),
        ] {
            assert_eq!(Claim::read(text), claim, "{text:?}");
        }
    }
}
