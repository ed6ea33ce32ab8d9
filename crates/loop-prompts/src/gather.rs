//! Values that come from files, and the form of the one that is a list.

use std::path::Path;

use crate::read::{ReadFault, read_text};
use crate::{PROMPT_LIMIT, PromptWarning, Token, Values};

/// The size over which an artifact counts as unreadable, in bytes: 256 MiB.
pub const ARTIFACT_LIMIT: u64 = 256 << 20;

/// The documents that can be a task's brief, the first one that exists being it.
const BRIEFS: [&str; 2] = ["RESEARCH.md", "SPEC.md"];

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
        self.set_file(Token::ArtifactContent, [path], ARTIFACT_LIMIT)
    }

    /// Sets `{task_brief}` to a task's RESEARCH.md, else its SPEC.md, else to nothing.
    ///
    /// A document that is there and cannot be read gives the empty text and a warning.
    pub fn set_brief(&mut self, task_dir: &Path) -> Option<PromptWarning> {
        let documents = BRIEFS.map(|name| task_dir.join(name));
        self.set_file(
            Token::TaskBrief,
            documents.iter().map(AsRef::as_ref),
            PROMPT_LIMIT,
        )
    }

    /// Sets a token to the text of the first file that exists.
    fn set_file<'p>(
        &mut self,
        token: Token,
        paths: impl IntoIterator<Item = &'p Path>,
        limit: u64,
    ) -> Option<PromptWarning> {
        if self.role().is_some_and(|role| !role.sees(token)) {
            return None;
        }
        for path in paths {
            let (text, warning) = match read_text(path, limit) {
                Ok(read) => {
                    let warn = |offset| PromptWarning::InvalidUtf8 {
                        path: path.to_owned(),
                        offset,
                    };
                    (read.text, read.invalid_at.map(warn))
                }
                Err(ReadFault::Absent) => continue,
                Err(why) => {
                    let path = path.to_owned();
                    (
                        String::new(),
                        Some(PromptWarning::ValueUnreadable { token, path, why }),
                    )
                }
            };
            self.set(token, text);
            return warning;
        }
        self.set(token, "");
        None
    }
}
