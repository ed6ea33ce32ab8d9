//! The value that comes from a file, and the form of the one that is a list.

use std::path::Path;

use crate::read::{ReadFault, read_text};
use crate::{PromptWarning, Token, Values};

/// The size over which an artifact counts as unreadable, in bytes: 256 MiB.
pub const ARTIFACT_LIMIT: u64 = 256 << 20;

/// Writes acceptance criteria as `{acceptance_criteria}` has them: one `- item` a
/// line, without a line end after the last.
pub fn criteria_list<S: AsRef<str>>(items: impl IntoIterator<Item = S>) -> String {
    let lines: Vec<_> = items
        .into_iter()
        .map(|item| format!("- {}", item.as_ref()))
        .collect();
    lines.join("\n")
}

impl Values<'_> {
    /// Sets `{artifact_content}` to the text of a file, whole.
    ///
    /// A file that does not exist gives the empty text and no warning, as the seeds
    /// say: the agent may have reported nothing. Anything else that keeps the file
    /// from being read gives the empty text and a warning. Reads nothing for a role
    /// that does not see the token.
    pub fn set_artifact(&mut self, path: &Path) -> Option<PromptWarning> {
        let token = Token::ArtifactContent;
        if self.role().is_some_and(|role| !role.sees(token)) {
            return None;
        }
        let (text, warning) = match read_text(path, ARTIFACT_LIMIT) {
            Ok(read) => {
                let warn = |offset| PromptWarning::InvalidUtf8 {
                    path: path.to_owned(),
                    offset,
                };
                (read.text, read.invalid_at.map(warn))
            }
            Err(ReadFault::Absent) => Default::default(),
            Err(why) => {
                let path = path.to_owned();
                let warning = PromptWarning::ValueUnreadable { token, path, why };
                (String::new(), Some(warning))
            }
        };
        self.set(token, text);
        warning
    }
}
