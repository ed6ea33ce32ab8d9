//! The inbox of requests, `control/`.

use super::file::{At, FileError, draft, is_own_folder, read_small, remove, sync_folder};
use super::paths::LoopDir;
use crate::fault;
use crate::nonce::random_bits;
use loop_core::control::{Control, Request};
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// The largest request that is read.
const MAX_REQUEST: u64 = 64 * 1024;

/// The longest id of a request, in bytes.
const MAX_ID: usize = 128;

/// How much of its name an entry keeps that is set aside, in characters; with
/// what is put behind them the name is no longer than a file system allows.
const KEPT_OF_A_NAME: usize = 48;

/// A request that could not be left.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SubmitError {
    /// Orchestrate has left its one request of this tick.
    #[error("orchestrate has made its one request of tick {tick}")]
    AlreadyRequested {
        /// The tick.
        tick: u64,
    },
    /// A file could not be written.
    #[error(transparent)]
    File(#[from] FileError),
}

/// Leaves a request in the inbox `control_dir`; when it returns, the request is
/// on disk, in the file that is returned. Orchestrate's has a name of its own, so that there is one a tick.
///
/// # Errors
///
/// [`SubmitError`] when the request was not left.
pub fn submit(control_dir: &Path, control: &Control) -> Result<PathBuf, SubmitError> {
    make_inbox(control_dir)?;
    let text = serde_json::to_vec(control)
        .map_err(io::Error::other)
        .at("write", control_dir)?;
    let mut draft = draft(control_dir, &text).at("write", control_dir)?;
    draft.as_file().sync_all().at("sync", draft.path())?;
    fault::point("submit.written");
    let left = loop {
        let path = control_dir.join(file_name(control));
        match draft.persist_noclobber(&path) {
            Ok(_) => break path,
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
                if let Request::Transition { tick, .. } = control.request {
                    return Err(SubmitError::AlreadyRequested { tick });
                }
                draft = error.file;
            }
            Err(error) => return Err(error.error).at("write", &path)?,
        }
    };
    fault::point("submit.renamed");
    sync_folder(control_dir)?;
    fault::point("submit.synced");
    Ok(left)
}

/// Makes the inbox if it is missing; its loop has to be there.
fn make_inbox(control_dir: &Path) -> Result<(), FileError> {
    match std::fs::create_dir(control_dir) {
        Ok(()) => control_dir.parent().map_or(Ok(()), sync_folder),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => is_own_folder(control_dir),
        Err(error) => Err(error).at("make", control_dir),
    }
}

fn file_name(control: &Control) -> String {
    if let Request::Transition { tick, .. } = control.request {
        return transition_name(tick);
    }
    format!("{}.json", unique())
}

/// Returns a part of a name that nothing else has, and that sorts by time.
fn unique() -> String {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    format!("{:019}-{:016x}", since.as_nanos(), random_bits())
}

fn transition_name(tick: u64) -> String {
    format!("orchestrate-{tick}.json")
}

/// A file of the inbox.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) path: PathBuf,
    /// The request, or why there is none.
    pub(super) control: Result<Control, String>,
}

impl Message {
    /// Whether this is orchestrate's request of `tick`, which stays until the
    /// tick is closed, so that there can be no second one.
    pub(super) fn stays_in(&self, tick: Option<u64>) -> bool {
        let request = self.control.as_ref().map(|control| &control.request);
        matches!(request, Ok(Request::Transition { tick: of, .. }) if Some(*of) == tick)
    }
}

/// Lists what waits in the inbox, but for what is `stuck`: the first `max` in
/// order of name, as anybody may leave any number of them.
pub(super) fn waiting(
    dir: &LoopDir,
    stuck: &BTreeSet<PathBuf>,
    max: usize,
) -> Result<BTreeSet<PathBuf>, FileError> {
    let folder = dir.control();
    let mut first = BTreeSet::new();
    let entries = match std::fs::read_dir(&folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(first),
        entries => entries.at("read", &folder)?,
    };
    for entry in entries {
        let name = entry.at("read", &folder)?.file_name();
        let path = folder.join(&name);
        if name.as_encoded_bytes().starts_with(b".") || stuck.contains(&path) {
            continue;
        }
        first.insert(path);
        if first.len() > max {
            first.pop_last();
        }
    }
    Ok(first)
}

/// Reads one file; `None` when it is gone meanwhile.
pub(super) fn read(path: PathBuf) -> Option<Message> {
    let control = match read_small(&path, MAX_REQUEST) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        Err(error) => Err(error.to_string()),
        Ok(bytes) => serde_json::from_slice::<Control>(&bytes)
            .map_err(|error| error.to_string())
            .and_then(check_id)
            .and_then(|control| check_name(&path, control)),
    };
    Some(Message { path, control })
}

/// The state remembers the latest ids, so they have to be short.
fn check_id(control: Control) -> Result<Control, String> {
    let id = &control.id;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    if (1..=MAX_ID).contains(&id.len()) && id.bytes().all(plain) {
        Ok(control)
    } else {
        Err(format!(
            "its id is not 1 to {MAX_ID} letters, digits and hyphens"
        ))
    }
}

/// Orchestrate may write one file; it must not be able to ask for more with it.
fn check_name(path: &Path, control: Control) -> Result<Control, String> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let fits = match control.request {
        Request::Transition { tick, .. } => name == transition_name(tick),
        _ => !name.starts_with("orchestrate-"),
    };
    if fits {
        Ok(control)
    } else {
        Err("its name does not fit what it asks".to_owned())
    }
}

/// Puts an entry that is no request out of the way, under a name of its own;
/// returns where it is now.
pub(super) fn set_aside(dir: &LoopDir, path: &Path) -> Result<PathBuf, FileError> {
    let folder = dir.control_bad();
    std::fs::create_dir_all(&folder).at("make", &folder)?;
    // Anybody may leave an entry of any name, and more than one of the same.
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let start: String = name.chars().take(KEPT_OF_A_NAME).collect();
    let kept = folder.join(format!("{start}.{}", unique()));
    std::fs::rename(path, &kept).at("move", path)?;
    Ok(kept)
}

/// Removes orchestrate's request of a tick that is closed.
pub(super) fn clear_transition(dir: &LoopDir, tick: u64) -> Result<(), FileError> {
    remove(&dir.control().join(transition_name(tick)))
}
