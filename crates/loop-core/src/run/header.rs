//! The digests in the header of a `STATE.md`, read back.

/// What a `STATE.md` says of what was frozen: every value that stands for a digest.
///
/// The file lies where an agent can write. What it says is compared with what
/// the engine knows, and never believed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// For the gate's script.
    pub verify_sha256: Vec<String>,
    /// For the task.
    pub task_sha256: Vec<String>,
}

impl Header {
    /// Reads the values before the first section; `-` and nothing say nothing.
    #[must_use]
    pub fn read(text: &str) -> Self {
        let text = text.trim_start_matches('\u{feff}');
        let values = |name: &str| {
            text.lines()
                .take_while(|line| !line.starts_with("## "))
                .filter_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
                .map(str::trim)
                .filter(|value| !matches!(*value, "" | "-"))
                .map(str::to_owned)
                .collect()
        };
        Self {
            verify_sha256: values("verify_sha256"),
            task_sha256: values("task_sha256"),
        }
    }

    /// Whether it says nothing else than these digests. A file that lost one has
    /// told nobody anything wrong.
    #[must_use]
    pub fn agrees(&self, verify_sha256: Option<&str>, task_sha256: Option<&str>) -> bool {
        let all = |values: &[String], digest: Option<&str>| {
            values.iter().all(|value| Some(value.as_str()) == digest)
        };
        all(&self.verify_sha256, verify_sha256) && all(&self.task_sha256, task_sha256)
    }
}
