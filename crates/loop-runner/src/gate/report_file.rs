//! The report that a gate writes: only one that this run wrote counts.

use super::identity::Identity;
use super::program::below;
use crate::git::plain_file;
use loop_core::gate::{ReportFile, read_report};
use std::path::{Path, PathBuf};

/// The longest report that is read, in bytes.
const MAX_REPORT: u64 = 32 << 20;

/// A report's place, and what was there before the run.
pub(super) struct Before {
    folder: PathBuf,
    path: PathBuf,
    identity: Option<Identity>,
}

impl Before {
    /// Looks at the place of a report before the gate runs.
    pub(super) fn look(folder: &Path, report: &str) -> Self {
        let path = below(report, folder).unwrap_or_default();
        Self {
            identity: Identity::of(folder, &path),
            folder: folder.to_owned(),
            path,
        }
    }

    /// Reads the report that the run has written.
    pub(super) fn read(&self) -> ReportFile {
        let name = self.path.display();
        let unusable = |what: &str| ReportFile::Unusable(format!("{name} {what}"));
        let Some(now) = Identity::of(&self.folder, &self.path) else {
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
