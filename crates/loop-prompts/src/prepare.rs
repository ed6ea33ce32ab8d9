//! Makes a role's prompt ready for a harness: find, render, write.

use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::{PromptWarning, Resolution, Resolver, Role, Template, Values};

/// The smallest context that a model must offer, in tokens of four characters.
pub const CONTEXT_FLOOR_TOKENS: usize = 16_000;

/// One prompt to prepare.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// The prompt that the role's configuration names, if it names one.
    pub prompt_ref: Option<&'a str>,
    /// What the written file is called.
    pub name: PromptName,
    /// What the role knows.
    pub values: &'a Values<'a>,
    /// A paragraph to put after the rendered text; nothing in it is a token.
    pub addendum: Option<&'a str>,
}

/// Names the file of one call: `tickN-<role>-prompt.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PromptName {
    /// The tick's number, from 1.
    pub tick: u64,
    /// The role.
    pub role: Role,
    /// Which call of the role in this tick, from 1; only a second one is named.
    pub call: u32,
}

/// A prompt, ready to be handed to a harness.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prepared {
    /// What `{prompt}` stands for in a command.
    ///
    /// The absolute path of the written file; the bare reference if there was no
    /// prompt to read; empty if the role names none.
    pub prompt: String,
    /// What `{prompt_content}` stands for: the text, or empty if there is none.
    pub content: String,
    /// The file that was written.
    pub file: Option<PathBuf>,
    /// The file that the prompt came from.
    pub source: Option<PathBuf>,
    /// What a person should hear about.
    pub warnings: Vec<PromptWarning>,
}

/// The error of writing a prompt; no harness may be started after it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PrepareError {
    /// The folder for outputs is not there and cannot be made.
    #[error("cannot make the folder {}", path.display())]
    Outputs {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The prompt cannot be written.
    #[error("cannot write the prompt {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file's path cannot be part of a command, which is text.
    #[error("the path {} is not UTF-8", path.display())]
    PathNotUtf8 {
        /// The file.
        path: PathBuf,
    },
}

impl Resolver {
    /// Finds and renders a prompt and writes it to the loop's `outputs/`.
    ///
    /// This is all that a driver has to call between "the role is next" and "start
    /// the harness". No prompt, a missing and an unreadable one are not errors: the
    /// harness is still called, as the seeds have it, and a warning says so. In these
    /// cases nothing is written.
    ///
    /// # Errors
    ///
    /// Fails when the text cannot be written, for a harness must not be started with
    /// the path of a file that is not there.
    pub fn prepare(&self, job: &Job<'_>) -> Result<Prepared, PrepareError> {
        let mut prepared = self.preview(job);
        if prepared.source.is_some() {
            prepared.prompt = self.write(&job.name.to_string(), &prepared.content)?;
            prepared.file = Some(PathBuf::from(&prepared.prompt));
        }
        Ok(prepared)
    }

    /// Does all that [`prepare`](Self::prepare) does but write.
    ///
    /// `prompt` is the bare reference, because there is no file to name.
    pub fn preview(&self, job: &Job<'_>) -> Prepared {
        let mut prepared = Prepared {
            prompt: job.prompt_ref.unwrap_or_default().to_owned(),
            content: String::new(),
            file: None,
            source: None,
            warnings: Vec::new(),
        };
        let Some(prompt_ref) = job.prompt_ref else {
            prepared.warnings.push(PromptWarning::NoPrompt {
                role: job.name.role,
            });
            return prepared;
        };
        let lookup = self.find(prompt_ref);
        prepared.warnings = lookup.warnings;
        let prompt_ref = prompt_ref.to_owned();
        match lookup.result {
            Resolution::Missing { looked_at } => {
                prepared.warnings.push(PromptWarning::Missing {
                    prompt_ref,
                    looked_at,
                });
            }
            Resolution::Unreadable { path, why } => {
                prepared.warnings.push(PromptWarning::Unreadable {
                    prompt_ref,
                    path,
                    why,
                });
            }
            Resolution::Found { path, text } => {
                prepared.content = compose(text, job);
                prepared.source = Some(path);
                prepared
                    .warnings
                    .extend(remarks(&prepared.content, prompt_ref));
            }
        }
        prepared
    }

    /// Writes a text into `outputs/` and returns its absolute path.
    ///
    /// The file is put in place by renaming, so that a reader never sees half of it
    /// and a link that stands there is replaced, not written through.
    fn write(&self, name: &str, text: &str) -> Result<String, PrepareError> {
        let outputs = self.loop_dir().join("outputs");
        let refuse = |source| PrepareError::Outputs {
            path: outputs.clone(),
            source,
        };
        let outputs = std::path::absolute(&outputs).map_err(refuse)?;
        let path = outputs.join(name);
        let Some(in_command) = path.to_str() else {
            return Err(PrepareError::PathNotUtf8 { path });
        };
        fs::create_dir_all(&outputs).map_err(refuse)?;
        match replace(&outputs, &path, text.as_bytes()) {
            Ok(()) => Ok(in_command.to_owned()),
            Err(source) => Err(PrepareError::Write { path, source }),
        }
    }
}

/// Renders a prompt and puts the addendum after it.
fn compose(text: String, job: &Job<'_>) -> String {
    let mut content = Template::parse(text).render(job.values);
    if let Some(addendum) = job.addendum {
        let gap = if content.ends_with('\n') {
            "\n"
        } else {
            "\n\n"
        };
        content.extend([gap, addendum, "\n"]);
    }
    content
}

fn remarks(content: &str, prompt_ref: String) -> impl Iterator<Item = PromptWarning> {
    let chars = content.chars().count();
    let long = chars > CONTEXT_FLOOR_TOKENS * crate::CHARS_PER_TOKEN;
    let blank = crate::lint::is_blank(content);
    [
        blank.then_some(PromptWarning::Blank { prompt_ref }),
        long.then_some(PromptWarning::Long { chars }),
    ]
    .into_iter()
    .flatten()
}

fn replace(folder: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = tempfile::Builder::new()
        .prefix(".prompt-")
        .permissions(Permissions::from_mode(0o644))
        .tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.persist(path)?;
    Ok(())
}

impl PromptName {
    /// Names the first call of a role in a tick.
    pub const fn new(tick: u64, role: Role) -> Self {
        Self {
            tick,
            role,
            call: 1,
        }
    }
}

impl std::fmt::Display for PromptName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { tick, role, call } = self;
        match call {
            0 | 1 => write!(f, "tick{tick}-{role}-prompt.md"),
            _ => write!(f, "tick{tick}-{role}-{call}-prompt.md"),
        }
    }
}
