//! What an audit finds.

use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;

/// How bad a violation is; the worse, the greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth mending.
    Low,
    /// Gets in the way.
    Med,
    /// Something is broken.
    High,
}

impl Severity {
    /// Returns the word as it stands in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Med => "med",
            Self::High => "high",
        }
    }

    /// Reads a word in any case; `medium` is `med` (row S-11).
    #[must_use]
    pub fn read(word: &str) -> Option<Self> {
        match word.to_ascii_lowercase().as_str() {
            "low" => Some(Self::Low),
            "med" | "medium" => Some(Self::Med),
            "high" => Some(Self::High),
            _ => None,
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One thing that an audit found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Violation {
    /// How bad it is; `None`, below every severity, when an audit of another
    /// make says nothing or a word that we do not know.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "severity"
    )]
    pub severity: Option<Severity>,
    /// Which rule was broken.
    #[serde(default)]
    pub code: String,
    /// What is wrong, in the same words each time: a task's name is made from
    /// them.
    pub message: String,
    /// The task that it is about; neither null nor an empty text is one.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "task"
    )]
    pub task: Option<String>,
    /// More about it, in words that may change, such as a line number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// A program's output that is no audit.
#[derive(Debug, thiserror::Error)]
#[error("the last line is no audit: {source}")]
pub struct NoAudit {
    #[from]
    source: serde_json::Error,
}

#[derive(Deserialize)]
struct Report {
    violations: Vec<Violation>,
}

impl Violation {
    /// Reads the violations from what `loop audit --json`, or a program like it,
    /// printed: one JSON object in the last line that is not blank (row U-48).
    ///
    /// # Errors
    ///
    /// [`NoAudit`] for anything else; noise is never taken for an empty audit.
    pub fn read_all(stdout: &str) -> Result<Vec<Self>, NoAudit> {
        let last = stdout.lines().rev().find(|line| !line.trim().is_empty());
        let report: Report = serde_json::from_str(last.unwrap_or_default())?;
        Ok(report.violations)
    }
}

fn severity<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Severity>, D::Error> {
    let word = Option::<String>::deserialize(deserializer)?;
    Ok(word.as_deref().and_then(Severity::read))
}

fn task<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let task = Option::<String>::deserialize(deserializer)?;
    Ok(task.filter(|task| !task.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    // rows: S-11, S-14, AU-06
    #[test]
    fn severities_are_read_kindly_and_written_strictly() {
        let read = |severity: &str| {
            let json = format!(r#"{{"severity":{severity},"message":"m","task":""}}"#);
            serde_json::from_str::<Violation>(&json).unwrap()
        };
        assert_eq!(read("\"HIGH\"").severity, Some(Severity::High));
        assert_eq!(read("\"medium\"").severity, Some(Severity::Med));
        assert_eq!(read("\"weird\"").severity, None);
        assert_eq!(read("null").severity, None);
        assert_eq!(read("null").task, None);
        assert!(read("\"HIGH\"").severity > read("\"med\"").severity);
        assert!(read("\"weird\"").severity < read("\"low\"").severity);
        let json = serde_json::to_string(&read("\"MEDIUM\"")).unwrap();
        assert_eq!(json, r#"{"severity":"med","code":"","message":"m"}"#);
    }

    // rows: AU-03, S-19, U-48
    #[test]
    fn the_last_line_that_is_not_blank_is_the_audit() {
        let line = r#"{"violations":[{"severity":"low","message":"m"}],"loops":[]}"#;
        for text in [
            line.to_owned(),
            format!("noise\n{line}\n\n"),
            format!("{{\n{line}\r\n"),
        ] {
            let read = Violation::read_all(&text).unwrap();
            assert_eq!(read[0].message, "m", "{text:?}");
        }
        for text in [
            "",
            "\n",
            "noise",
            "[]",
            "{}",
            "{\"violations\":{}}",
            "{\"violations\":[]}\nx",
        ] {
            assert!(Violation::read_all(text).is_err(), "{text:?}");
        }
    }
}
