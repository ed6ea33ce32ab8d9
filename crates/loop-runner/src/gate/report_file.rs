//! The report that a gate writes: only one that this run wrote counts.

use super::program::below;
use super::walk::is_real;
use crate::git::plain_file;
use loop_core::gate::{ReportFile, read_report};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The longest report that is read, in bytes.
const MAX_REPORT: u64 = 32 << 20;

/// A report's place, and what was there before the run.
pub(super) struct Before {
    folder: PathBuf,
    path: PathBuf,
    identity: Option<Identity>,
}

/// What tells one writing of a file from another. The time of the last change
/// of the inode cannot be set by any program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Identity {
    device: u64,
    inode: u64,
    changed: (i64, i64),
    length: u64,
}

impl Before {
    /// Looks at the place of a report before the gate runs.
    pub(super) fn look(folder: &Path, report: &str) -> Self {
        let path = below(report, folder).unwrap_or_default();
        Self {
            identity: identity(folder, &path),
            folder: folder.to_owned(),
            path,
        }
    }

    /// Reads the report that the run has written.
    pub(super) fn read(&self) -> ReportFile {
        let name = self.path.display();
        let unusable = |what: &str| ReportFile::Unusable(format!("{name} {what}"));
        let Some(now) = identity(&self.folder, &self.path) else {
            return unusable("was not written");
        };
        if self.identity == Some(now) {
            return unusable("was not written by this run");
        }
        match plain_file::read(&self.folder.join(&self.path), MAX_REPORT) {
            Ok(Some(bytes)) => match read_report(&bytes) {
                Ok(report) => ReportFile::Read(report),
                Err(fault) => unusable(&fault.to_string()),
            },
            Ok(None) => unusable("is no plain file of a usual length"),
            Err(error) => unusable(&format!("cannot be read: {error}")),
        }
    }
}

fn identity(folder: &Path, path: &Path) -> Option<Identity> {
    let meta = folder.join(path).symlink_metadata().ok();
    let meta = meta.filter(|_| is_real(folder, path))?;
    Some(Identity {
        device: meta.dev(),
        inode: meta.ino(),
        changed: (meta.ctime(), meta.ctime_nsec()),
        length: meta.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const REPORT: &str = "<testsuite><testcase name='a'/></testsuite>";

    // rows: D-13
    // cases: 129, 130
    #[test]
    fn only_a_report_of_this_run_counts() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out/report.xml");
        fs::create_dir(dir.path().join("out")).unwrap();
        let look = || Before::look(dir.path(), "out/report.xml");
        let said = |before: &Before| match before.read() {
            ReportFile::Unusable(what) => what,
            other => format!("{other:?}"),
        };

        assert!(said(&look()).ends_with("was not written"));
        fs::write(&path, REPORT).unwrap();
        let planted = look();
        assert!(said(&planted).ends_with("was not written by this run"));
        // The same bytes, written anew, as soon as the clock of the file system
        // has gone on.
        while look().identity == planted.identity {
            fs::write(&path, REPORT).unwrap();
        }
        assert!(matches!(planted.read(), ReportFile::Read(report) if report.passed == 1));

        let before = look();
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("/etc/hostname", &path).unwrap();
        assert!(said(&before).contains("no plain file"));
        fs::remove_file(&path).unwrap();
        fs::write(&path, "all good").unwrap();
        assert!(said(&before).contains("neither JUnit XML nor TAP"));
        fs::rename(dir.path().join("out"), dir.path().join("real")).unwrap();
        std::os::unix::fs::symlink("real", dir.path().join("out")).unwrap();
        assert!(said(&before).ends_with("was not written"));
    }
}
