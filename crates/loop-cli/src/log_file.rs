//! A file that takes what a timer's tick says, where its scheduler keeps no log.

use crate::show;
use loop_runner::clock::{Clock, SystemClock};
use rustix::fs::OFlags;
use rustix::stdio::{dup2_stderr, dup2_stdout};
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

/// How long the file may be when another tick begins, in bytes. What it has then is
/// put aside under the same name and `.1`, in the place of what was there.
const LONGEST: u64 = 1 << 20;

/// Lets everything that is printed from here on go to the file at `path`, under the
/// time. A tick is worth more than its log: without the file it goes on.
pub(crate) fn take_over(path: &Path) {
    let taken = open(path).and_then(|file| {
        dup2_stdout(&file)?;
        Ok(dup2_stderr(&file)?)
    });
    match taken {
        Ok(()) => show::note(format!("--- {}", SystemClock::new().now())),
        Err(error) => show::warning(&format!("no log in {}: {error}", path.display())),
    }
}

fn open(path: &Path) -> io::Result<File> {
    let file = open_regular(path)?;
    if file.metadata()?.len() <= LONGEST {
        return Ok(file);
    }
    let mut aside = OsString::from(path);
    aside.push(".1");
    fs::rename(path, aside)?;
    open_regular(path)
}

/// Opens the file for appending. An agent may have put a link or a pipe in its
/// place, or given a file of the user's a second name.
fn open_regular(path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = OpenOptions::new()
        .append(true)
        .create(true)
        .custom_flags(flags.bits().cast_signed())
        .open(path)?;
    let found = file.metadata()?;
    if found.is_file() && found.nlink() == 1 {
        Ok(file)
    } else {
        Err(io::Error::other("it is no file with one name"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::fs::symlink;

    #[test]
    fn the_log_is_bounded_and_a_plain_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        open(&path).unwrap().write_all(b"one\n").unwrap();
        open(&path).unwrap().write_all(b"two\n").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"one\ntwo\n");
        File::options()
            .append(true)
            .open(&path)
            .unwrap()
            .set_len(LONGEST + 1)
            .unwrap();
        open(&path).unwrap().write_all(b"three\n").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"three\n");
        let aside = fs::metadata(folder.path().join("log.1")).unwrap();
        assert_eq!(aside.len(), LONGEST + 1);

        let link = folder.path().join("link");
        symlink(&path, &link).unwrap();
        assert!(open(&link).is_err());
        fs::hard_link(&path, folder.path().join("second")).unwrap();
        assert!(open(&path).is_err());
        assert!(open(folder.path()).is_err());
    }
}
