//! `task.json` as bytes.

use super::RECORD;
use super::error::ReadError;
use super::folder::Folder;
use loop_core::task::Task;
use loop_core::text::without_controls;

/// The largest record that is read; a history of thousands of moves fits.
const LARGEST: u64 = 4 * 1024 * 1024;

/// Reads the record in a task's folder; `None` when there is none.
pub(super) fn read(folder: &Folder, name: &str) -> Result<Option<Task>, ReadError> {
    let wrong = |line, column, what| ReadError::Record {
        path: folder.path_of(RECORD),
        line,
        column,
        what,
    };
    let Some(bytes) = folder.read(RECORD, LARGEST + 1)? else {
        return Ok(None);
    };
    if bytes.len() as u64 > LARGEST {
        return Err(wrong(0, 0, format!("is larger than {LARGEST} bytes")));
    }
    let task: Task = serde_json::from_slice(&bytes)
        .map_err(|error| wrong(error.line(), error.column(), said(&error)))?;
    if task.v != 1 {
        let what = format!("`v` is {}, and only 1 is known", task.v);
        return Err(wrong(0, 0, what));
    }
    if task.name != name {
        let other = without_controls(&task.name);
        let what = format!("`name` is `{other}`, and the folder is `{name}`");
        return Err(wrong(0, 0, what));
    }
    if let Err(error) = task.check_history() {
        let what = format!(
            "{error}, where its moves lead; set `phase` right, and move it with loop task transition"
        );
        return Err(wrong(0, 0, what));
    }
    Ok(Some(task))
}

/// Returns the text of a record: indented, because people read it.
pub(super) fn text(task: &Task) -> String {
    let mut text = serde_json::to_string_pretty(task)
        .expect("a record has string keys and values that all have a JSON form");
    text.push('\n');
    text
}

/// Returns what is wrong without the position, which stands in front.
fn said(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&position).unwrap_or(&text).to_owned()
}
