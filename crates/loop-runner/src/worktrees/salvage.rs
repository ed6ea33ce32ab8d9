//! Saves what is in a worktree alone, before it goes.

use crate::git::{Changes, FileStat};
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

/// The longest file that is copied, in bytes.
const MAX_FILE: u64 = 1 << 30;

/// Where the work of a removed worktree is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Salvaged {
    /// The changes, to be applied to the branch with `git apply`.
    pub patch: PathBuf,
    /// The files that a patch cannot hold, in their folders below this one; `None` without any.
    pub files: Option<PathBuf>,
}

/// Work that could not be saved, so that its worktree stays.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SalvageError {
    /// Something cannot be saved as a patch or a copy.
    #[error("{} cannot be saved: {what}", path.display())]
    Unfit {
        /// Where it is in the worktree.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// Nothing could be written.
    #[error("save to {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// Writes changes as `<name>.patch` and the files it cannot hold as `<name>/…`, and waits until they
/// are on disk.
pub(super) fn save(
    changes: &Changes,
    worktree: &Path,
    folder: &Path,
    name: &str,
) -> Result<Salvaged, SalvageError> {
    let patch = folder.join(format!("{name}.patch"));
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| SalvageError::Write { path, source }
    };
    make_folder(folder).map_err(failed(folder))?;
    let copies = folder.join(name);
    let saved = write_patch(changes, &patch)
        .map_err(failed(&patch))
        .and_then(|stats| copy_all(&stats, worktree, &copies))
        .and_then(|copied| {
            let synced = File::open(folder).and_then(|folder| folder.sync_all());
            synced.map_err(failed(folder)).map(|()| copied)
        });
    match saved {
        Ok(copied) => Ok(Salvaged {
            patch,
            files: copied.then_some(copies),
        }),
        Err(error) => {
            // The worktree stays, so nothing is lost with these.
            drop(fs::remove_file(&patch));
            drop(fs::remove_dir_all(&copies));
            Err(error)
        }
    }
}

/// Copies the files that have no lines to show; tells whether there were any.
fn copy_all(stats: &[FileStat], worktree: &Path, to: &Path) -> Result<bool, SalvageError> {
    let mut copied = false;
    for stat in stats.iter().filter(|stat| stat.lines.is_none()) {
        let from = worktree.join(&stat.path);
        let unfit = |what| SalvageError::Unfit {
            path: stat.path.clone(),
            what,
        };
        match from.symlink_metadata() {
            // What was deleted is in the commit.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Ok(meta) if meta.is_file() && meta.len() <= MAX_FILE => {}
            Ok(meta) if meta.is_dir() => return Err(unfit("it is a repository of its own")),
            Ok(_) | Err(_) => return Err(unfit("it is no regular file of a usual length")),
        }
        let to = to.join(&stat.path);
        copy(&from, &to).map_err(|source| SalvageError::Write { path: to, source })?;
        copied = true;
    }
    Ok(copied)
}

/// Makes the folder, which version control is to leave out.
fn make_folder(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    match File::create_new(folder.join(".gitignore")) {
        Ok(mut file) => file.write_all(b"*\n"),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

fn write_patch(changes: &Changes, path: &Path) -> io::Result<Vec<FileStat>> {
    let mut out = BufWriter::new(File::create_new(path)?);
    let stats = changes.write_patch(&mut out)?;
    out.into_inner()
        .map_err(|error| error.into_error())?
        .sync_all()?;
    Ok(stats)
}

/// Copies a regular file that an agent may have replaced meanwhile.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let mut from = OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(from)?;
    let meta = from.metadata()?;
    if !meta.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent)?;
    }
    let mut copy = File::create_new(to)?;
    io::copy(&mut from, &mut copy)?;
    let mode = meta.permissions().mode() & 0o777;
    copy.set_permissions(Permissions::from_mode(mode))?;
    copy.sync_all()
}
