//! Whether somebody has written a task.

use std::fmt;

/// The line by which the shipped `TASK.md` says that nobody has written it.
pub const PLACEHOLDER: &str = "<!-- loop:placeholder -->";

/// Why a `TASK.md` is no task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placeholder {
    /// There is none.
    Missing,
    /// There is nothing in it.
    Blank,
    /// It is the shipped file.
    Template,
    /// It still holds the line of the shipped file.
    Marked,
}

impl fmt::Display for Placeholder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Missing => "there is none; `loop init --run` writes a TASK.md to fill in",
            Self::Blank => "it is empty; write down what is to be done, and when it is done",
            Self::Template => "it is the shipped template; write your task into it",
            Self::Marked => {
                "it still holds the line `<!-- loop:placeholder -->`; fill the file in and take \
                 that line out"
            }
        })
    }
}

/// Tells why `task` is no task, if it is none; `None` stands for a file that is
/// not there, and `template` is the shipped one (row U-38).
#[must_use]
pub fn placeholder(task: Option<&[u8]>, template: &[u8]) -> Option<Placeholder> {
    let Some(task) = task else {
        return Some(Placeholder::Missing);
    };
    let text = String::from_utf8_lossy(task);
    if text
        .trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}')
        .is_empty()
    {
        Some(Placeholder::Blank)
    } else if task == template {
        Some(Placeholder::Template)
    } else if text.lines().any(|line| line.trim() == PLACEHOLDER) {
        Some(Placeholder::Marked)
    } else {
        None
    }
}
