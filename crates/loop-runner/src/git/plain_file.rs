//! Regular files that an agent may have made, opened so that nothing else can come of it.
//!
//! A named pipe in a file's place would be waited for, a link would lead elsewhere, a device could
//! act, and a sparse file is as long as it likes without taking any room.

use std::{
    fs::{File, Metadata, OpenOptions},
    io::{self, Read},
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

use rustix::fs::OFlags;

/// Opens a regular file and looks at what was opened; `None` for anything else.
///
/// Waits for nothing and follows no link in the last part of the path.
pub(crate) fn open(path: &Path) -> io::Result<Option<(File, Metadata)>> {
    // Opening a device can act on it, so look first; and look again, as it may be another by then.
    if !path.symlink_metadata()?.is_file() {
        return Ok(None);
    }
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(path)?;
    let meta = file.metadata()?;
    Ok(meta.is_file().then_some((file, meta)))
}

/// Reads a regular file of at most `limit` bytes; `None` for a longer one and for anything else.
///
/// Never reads more than one byte beyond the limit.
pub(crate) fn read(path: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let Some((file, meta)) = open(path)? else {
        return Ok(None);
    };
    if meta.len() > limit {
        return Ok(None);
    }
    let mut content = Vec::new();
    // It may grow while it is read.
    file.take(limit.saturating_add(1))
        .read_to_end(&mut content)?;
    Ok((content.len() as u64 <= limit).then_some(content))
}

/// Checks that another library can read what is at `path`: a regular file of at most `limit`
/// bytes, or what it takes for none (nothing, a link, a folder).
pub(super) fn check(path: &Path, limit: u64) -> io::Result<()> {
    let meta = match path.symlink_metadata() {
        Ok(meta) => meta,
        Err(error) if is_absent(&error) => return Ok(()),
        Err(error) => return Err(error),
    };
    let readable = meta.is_file() && meta.len() <= limit || meta.is_symlink() || meta.is_dir();
    if readable {
        Ok(())
    } else {
        Err(io::Error::other("not a plain file of a usual length"))
    }
}

/// Tells whether there was nothing to look at.
pub(crate) fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::{fs::symlink, net::UnixListener};

    // cases: 89
    #[test]
    fn only_regular_files_up_to_the_limit_are_read() {
        let dir = tempfile::TempDir::new().unwrap();
        let path = |name: &str| dir.path().join(name);
        std::fs::write(path("file"), "1234").unwrap();
        symlink("file", path("link")).unwrap();
        let _socket = UnixListener::bind(path("socket")).unwrap();
        let made = std::process::Command::new("mkfifo")
            .arg(path("pipe"))
            .status();
        assert!(made.unwrap().success());
        File::create(path("sparse"))
            .unwrap()
            .set_len(1 << 41)
            .unwrap();

        assert_eq!(read(&path("file"), 4).unwrap().unwrap(), b"1234");
        assert_eq!(read(&path("file"), 3).unwrap(), None);
        for other in ["link", "socket", "pipe", "sparse", "."] {
            assert_eq!(read(&path(other), 1 << 20).unwrap(), None, "{other}");
        }
        for (name, passes) in [
            ("file", true),
            ("link", true),
            (".", true),
            ("missing", true),
            ("socket", false),
            ("pipe", false),
            ("sparse", false),
        ] {
            assert_eq!(check(&path(name), 1 << 20).is_ok(), passes, "{name}");
        }
        let missing = read(&path("missing"), 4).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    }
}
