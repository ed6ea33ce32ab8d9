//! Finds the file that a prompt reference means.

use std::path::{Path, PathBuf};

use crate::PromptWarning;
use crate::read::{ReadFault, read_text};

/// The size over which a prompt file counts as unreadable, in bytes: 16 MiB.
pub const PROMPT_LIMIT: u64 = 16 << 20;

/// Knows the two places where a prompt may be.
///
/// There is no third: prompts that travel with a program
/// are installed into the home, where a person can see and change them.
#[derive(Clone, Debug)]
pub struct Resolver {
    loop_dir: PathBuf,
    home: PathBuf,
}

/// What a look for a prompt came to.
#[derive(Clone, Debug)]
pub struct Lookup {
    /// The outcome.
    pub result: Resolution,
    /// What was odd on the way.
    pub warnings: Vec<PromptWarning>,
}

/// The outcome of a look for a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// It is there.
    Found {
        /// The file.
        path: PathBuf,
        /// Its text; bytes that are not UTF-8 became U+FFFD.
        text: String,
    },
    /// It is in none of these places.
    Missing {
        /// Where it could have been.
        looked_at: Vec<PathBuf>,
    },
    /// It is there and cannot be read.
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why not.
        why: ReadFault,
    },
}

impl Resolver {
    /// Makes a resolver for a loop's folder and the framework home.
    ///
    /// Prompts of the home are in its `prompts/` folder. Neither folder has to exist.
    pub fn new(loop_dir: impl Into<PathBuf>, home: impl Into<PathBuf>) -> Self {
        Self {
            loop_dir: loop_dir.into(),
            home: home.into(),
        }
    }

    /// Returns the loop's folder.
    pub fn loop_dir(&self) -> &Path {
        &self.loop_dir
    }

    /// Looks for a prompt: in the loop's folder, then in the home.
    ///
    /// References may have sub-folders; an absolute one means itself. Only regular
    /// files count, links followed. The first place that has one decides, also when
    /// it cannot be read: another file of the same name is not what was meant.
    pub fn find(&self, prompt_ref: &str) -> Lookup {
        let mut warnings = Vec::new();
        let places = self.places(prompt_ref);
        for path in &places {
            let path = path.clone();
            let result = match read_text(&path, PROMPT_LIMIT) {
                Ok(read) => {
                    if let Some(offset) = read.invalid_at {
                        warnings.push(PromptWarning::InvalidUtf8 {
                            path: path.clone(),
                            offset,
                        });
                    }
                    Resolution::Found {
                        path,
                        text: read.text,
                    }
                }
                Err(ReadFault::Absent) => continue,
                Err(why @ (ReadFault::NotAFile | ReadFault::DanglingLink)) => {
                    warnings.push(PromptWarning::PassedOver { path, why });
                    continue;
                }
                Err(why) => Resolution::Unreadable { path, why },
            };
            return Lookup { result, warnings };
        }
        Lookup {
            result: Resolution::Missing { looked_at: places },
            warnings,
        }
    }

    fn places(&self, prompt_ref: &str) -> Vec<PathBuf> {
        let mut places = vec![
            self.loop_dir.join(prompt_ref),
            self.home.join("prompts").join(prompt_ref),
        ];
        // An absolute reference is the same file from wherever one looks.
        places.dedup();
        places
    }
}
