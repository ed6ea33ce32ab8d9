//! From the text of `loop.json` to a configuration, with what a person should know about it.

use super::check;
use super::document::Document;
use super::settings::Settings;
use super::{Config, ConfigError, ConfigWarning, Position, Problem, WorkSourceKind};

const WORK_SOURCE: &str = "work_source";

/// A configuration, and what a person should know about how it was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed {
    /// The configuration.
    pub config: Config,
    /// What was accepted, but perhaps not meant.
    pub warnings: Vec<ConfigWarning>,
}

impl Config {
    /// Reads the text of a `loop.json`. A byte order mark in front of it is passed over.
    ///
    /// # Errors
    ///
    /// The first fault that is found, with its place, its key and what to do.
    pub fn parse(text: &str) -> Result<Parsed, ConfigError> {
        let document = Document::new(text)?;
        let mut warnings = Vec::new();
        let unknown_kind = unknown_kind(&document, &mut warnings);
        old_spelling(&document, &mut warnings)?;
        // Nobody knows which keys an unknown kind has, so that object is not read at all.
        let config: Self = document
            .read(unknown_kind.then_some(WORK_SOURCE))
            .map_err(ConfigError::look_elsewhere::<Settings>)?;
        check::check(&config).map_err(|(path, problem)| document.error_at(&path, problem))?;
        let source = config.settings.work_source.as_ref();
        if source.is_some_and(|source| source.kind.is_none()) {
            let message = "there is no kind; the work source is single".to_owned();
            warnings.extend(warning(&document, WORK_SOURCE, message));
        }
        Ok(Parsed { config, warnings })
    }
}

/// Finds where the key at a path such as `blast_radius.file_scope` or `notify[0].command` stands in
/// the text of a `loop.json`, to say so in an error about its value.
#[must_use]
pub fn locate(text: &str, key: &str) -> Option<Position> {
    Document::new(text).ok()?.key_position(key)
}

fn warning(document: &Document<'_>, key: &str, message: String) -> Option<ConfigWarning> {
    let position = document.key_position(key)?;
    Some(ConfigWarning {
        position,
        key: key.to_owned(),
        message,
    })
}

/// Reports whether the work source is of a kind that nobody knows, with a warning.
fn unknown_kind(document: &Document<'_>, warnings: &mut Vec<ConfigWarning>) -> bool {
    let Some(kind) = document.string("work_source.kind") else {
        return false;
    };
    if WorkSourceKind::NAMES.contains(&kind.as_str()) {
        return false;
    }
    let known = WorkSourceKind::NAMES.join(", ");
    let message = format!("{kind:?} is not one of {known}; the work source is single");
    warnings.extend(warning(document, "work_source.kind", message));
    true
}

/// Warns of the old name of `use_worktree`, which is still understood.
fn old_spelling(
    document: &Document<'_>,
    warnings: &mut Vec<ConfigWarning>,
) -> Result<(), ConfigError> {
    const OLD: &str = "blast_radius.worktree";
    let Some(position) = document.key_position(OLD) else {
        return Ok(());
    };
    if document.key_position("blast_radius.use_worktree").is_some() {
        let problem = Problem::Invalid("use_worktree is there too; remove this one".to_owned());
        return Err(ConfigError {
            position,
            key: OLD.to_owned(),
            problem,
        });
    }
    let message = "read as use_worktree; rename it".to_owned();
    warnings.push(ConfigWarning {
        position,
        key: OLD.to_owned(),
        message,
    });
    Ok(())
}
