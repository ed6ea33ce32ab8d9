//! The header of a `STATE.md`, read back.

use super::words::RunPhase;

/// What a `STATE.md` says of the run's phase and of what was frozen.
///
/// The file lies where an agent can write. What it says is compared with what
/// the engine knows, and never believed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// The phase.
    pub phase: Option<RunPhase>,
    /// The digest of the gate's script.
    pub verify_sha256: Option<String>,
    /// The digest of `TASK.md`.
    pub task_sha256: Option<String>,
}

impl Header {
    /// Reads the header's fields; one that is missing, stands twice or says
    /// nothing is none.
    #[must_use]
    pub fn read(text: &str) -> Self {
        let text = text.trim_start_matches('\u{feff}');
        let field = |name: &str| {
            let mut found = text
                .lines()
                .take_while(|line| !line.starts_with("## "))
                .filter_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
            let value = found.next()?.trim();
            (found.next().is_none() && !matches!(value, "" | "-")).then_some(value)
        };
        let phase = field("phase");
        let mut known = RunPhase::ALL.into_iter();
        Self {
            phase: phase.and_then(|word| known.find(|phase| phase.as_str() == word)),
            verify_sha256: field("verify_sha256").map(str::to_owned),
            task_sha256: field("task_sha256").map(str::to_owned),
        }
    }

    /// Whether it names exactly these two digests. A file that was deleted, or
    /// has lost one, does not.
    #[must_use]
    pub fn names(&self, verify_sha256: &str, task_sha256: &str) -> bool {
        self.verify_sha256.as_deref() == Some(verify_sha256)
            && self.task_sha256.as_deref() == Some(task_sha256)
    }
}
