//! Paths and patterns as people write them into a configuration.

use super::name::checked_string;

checked_string!(
    /// A path or pattern below the project, with `/` between its parts.
    ProjectPath, check_project_path,
    {"type": "string", "minLength": 1, "not": {"pattern": "^/|(^|/)\\.\\.(/|$)|\\\\"}}
);

checked_string!(
    /// A path anywhere: absolute, below the home folder (`~/`), or below the project.
    AnyPath, check_any_path,
    {"type": "string", "minLength": 1, "not": {"pattern": "(^|/)\\.\\.(/|$)"}}
);

fn check_project_path(text: &str) -> Result<(), String> {
    check_any_path(text)?;
    if text.starts_with('/') || text.starts_with("~/") || text == "~" {
        return Err(format!(
            "{text:?} is not below the project; write it relative to the project"
        ));
    }
    if text.contains('\\') {
        return Err(format!(
            "{text:?} has a backslash; separate the parts of a path with /"
        ));
    }
    Ok(())
}

fn check_any_path(text: &str) -> Result<(), String> {
    if text.is_empty() {
        return Err(
            "the path is empty; name a file, a folder or a pattern, or leave it out".to_owned(),
        );
    }
    if text.contains(char::is_control) {
        return Err(format!("{text:?} has a control character; take it out"));
    }
    if text.split('/').any(|part| part == "..") {
        return Err(format!(
            "{text:?} leads out with \"..\"; write the path without it"
        ));
    }
    Ok(())
}
