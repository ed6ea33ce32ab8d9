//! Whether there is room, and whether something can be written.

use super::Finding;
use rustix::fs::{Access, access, statvfs};
use std::path::{Path, PathBuf};

const MIB: u64 = 1 << 20;
/// Below this a tick may not even get its record written.
const TOO_LITTLE: u64 = 100 * MIB;
/// Below this a night of builds may not fit.
const LITTLE: u64 = 2 * 1024 * MIB;

/// Looks at the room where `path` is, or will be.
pub(super) fn room(what: &str, path: &Path) -> Finding {
    let at = existing(path);
    match statvfs(&at) {
        Ok(found) => judge(what, path, found.f_bavail.saturating_mul(found.f_frsize)),
        Err(error) => Finding::problem(
            "room",
            format!("the room in {what} is unknown: {}: {error}", path.display()),
            "look at the file system",
        ),
    }
}

fn judge(what: &str, path: &Path, bytes: u64) -> Finding {
    let why = format!("{} MiB are free in {what}: {}", bytes / MIB, path.display());
    let mend = "make room, for example with: loop worktree prune --yes";
    match bytes {
        0..TOO_LITTLE => Finding::problem("room", why, mend),
        TOO_LITTLE..LITTLE => Finding::warning("room", why, mend),
        _ => Finding::ok("room", why),
    }
}

/// Looks whether the folder `path` can be written to, or made.
pub(super) fn writable(check: &'static str, what: &str, path: &Path) -> Finding {
    let at = existing(path);
    let refused = match (at.is_dir(), access(&at, Access::WRITE_OK | Access::EXEC_OK)) {
        (false, _) => Some("it is no folder".to_owned()),
        (true, Err(error)) => Some(error.to_string()),
        (true, Ok(())) => None,
    };
    match refused {
        None => Finding::ok(check, format!("{what} can be written: {}", path.display())),
        Some(why) => Finding::problem(
            check,
            format!("{what} cannot be written: {}: {why}", at.display()),
            format!("make it a folder that you can write to: {}", at.display()),
        ),
    }
}

/// Returns the nearest folder upwards that is there: what is missing below it
/// would be made in it.
fn existing(path: &Path) -> PathBuf {
    let mut folders = path.ancestors();
    let found = folders.find(|folder| folder.symlink_metadata().is_ok());
    found.unwrap_or_else(|| Path::new("/")).to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::Severity;
    use super::*;

    // cases: 97, 107
    #[test]
    fn little_room_is_a_warning_and_none_a_problem() {
        for (bytes, severity) in [
            (0, Severity::Problem),
            (TOO_LITTLE - 1, Severity::Problem),
            (TOO_LITTLE, Severity::Warning),
            (LITTLE - 1, Severity::Warning),
            (LITTLE, Severity::Ok),
            (u64::MAX, Severity::Ok),
        ] {
            let found = judge("here", Path::new("/x"), bytes);
            assert_eq!(found.severity, severity, "{bytes}");
        }
        assert_ne!(room("here", Path::new("/no/such/place")).why, "");
    }

    // cases: 156
    #[test]
    fn what_is_not_there_yet_can_be_made_where_its_folder_can_be_written() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        std::fs::write(&file, "").unwrap();
        for (path, severity) in [
            (dir.path().to_owned(), Severity::Ok),
            (dir.path().join("a/b/c"), Severity::Ok),
            (file.clone(), Severity::Problem),
            (file.join("a"), Severity::Problem),
        ] {
            let found = writable("home", "it", &path);
            assert_eq!(found.severity, severity, "{found:?}");
        }
    }
}
