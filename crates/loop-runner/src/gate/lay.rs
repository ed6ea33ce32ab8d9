//! Writes files into a tree so that nothing in it leads the writing elsewhere.
//!
//! The tree holds an agent's files. A link where a folder should be would lead
//! a frozen file out of the tree; so whatever is in the way is replaced. Nobody
//! else works in the tree while it is made.

use super::{At, GateError};
use crate::git::plain_file::{self, is_absent};
use std::fs::{self, File, Permissions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Component, Path, PathBuf};

/// How much is read at a time, in bytes.
const CHUNK: usize = 64 * 1024;

/// What became of a path that was to be copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Copied {
    /// A file of this length, in bytes.
    File(u64),
    /// A link.
    Link,
    /// Nothing is there, or it cannot be read, or is neither.
    Nothing,
    /// The file is longer than there is room.
    TooLong,
}

/// The tree below a folder of our own.
pub(super) struct Tree<'a> {
    pub(super) root: &'a Path,
}

impl Tree<'_> {
    /// Writes a file with `content`, in place of whatever is there.
    pub(super) fn file(
        &self,
        path: &Path,
        content: &mut dyn Read,
        mode: u32,
    ) -> Result<u64, GateError> {
        let full = self.vacate(path)?;
        let mut file = File::create_new(&full).at("make", &full)?;
        let written = write_out(content, &mut file).at("write", &full)?;
        // No set-user-id bit comes along.
        let mode = Permissions::from_mode(mode & 0o777 | 0o600);
        file.set_permissions(mode).at("write", &full)?;
        Ok(written)
    }

    /// Makes a link, in place of whatever is there. It is never followed here.
    pub(super) fn link(&self, path: &Path, target: &Path) -> Result<(), GateError> {
        let full = self.vacate(path)?;
        symlink(target, &full).at("make", &full)
    }

    /// Removes whatever is at `path`.
    pub(super) fn remove(&self, path: &Path) -> Result<(), GateError> {
        if super::walk::is_real(self.root, path) {
            take_away(&self.root.join(path))?;
        }
        Ok(())
    }

    /// Copies what is at `path` below `from`: a regular file of at most `room`
    /// bytes, or a link as a link.
    pub(super) fn copy(&self, from: &Path, path: &Path, room: u64) -> Result<Copied, GateError> {
        let source = from.join(path);
        let meta = match source.symlink_metadata() {
            Ok(meta) => meta,
            Err(error) if is_absent(&error) => return Ok(Copied::Nothing),
            Err(error) => return Err(error).at("look at", &source),
        };
        if meta.is_symlink() {
            let target = fs::read_link(&source).at("read", &source)?;
            self.link(path, &target)?;
            return Ok(Copied::Link);
        }
        match plain_file::open(&source) {
            Ok(Some((_, meta))) if meta.len() > room => Ok(Copied::TooLong),
            Ok(Some((file, meta))) => {
                let mut content = file.take(meta.len());
                let mode = meta.permissions().mode();
                self.file(path, &mut content, mode).map(Copied::File)
            }
            Ok(None) => Ok(Copied::Nothing),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(Copied::Nothing),
            Err(error) => Err(error).at("read", &source),
        }
    }

    /// Makes the folders above `path` real ones, and its place free.
    fn vacate(&self, path: &Path) -> Result<PathBuf, GateError> {
        let mut full = self.root.to_owned();
        let parts: Vec<_> = path.components().collect();
        let Some((last, above)) = parts.split_last() else {
            return Err(io::Error::from(io::ErrorKind::InvalidInput)).at("write", path);
        };
        for part in above {
            full.push(normal(*part, path)?);
            match fs::symlink_metadata(&full) {
                Ok(meta) if meta.is_dir() => {}
                Ok(_) => {
                    take_away(&full)?;
                    fs::create_dir(&full).at("make", &full)?;
                }
                Err(error) if is_absent(&error) => fs::create_dir(&full).at("make", &full)?,
                Err(error) => return Err(error).at("look at", &full),
            }
        }
        full.push(normal(*last, path)?);
        take_away(&full)?;
        Ok(full)
    }
}

fn normal<'a>(part: Component<'a>, path: &Path) -> Result<&'a std::ffi::OsStr, GateError> {
    match part {
        Component::Normal(name) => Ok(name),
        _ => Err(io::Error::from(io::ErrorKind::InvalidInput)).at("write", path),
    }
}

/// Writes a content without filling what may be a hole: a file of a few bytes can
/// have any length.
fn write_out(content: &mut dyn Read, file: &mut File) -> io::Result<u64> {
    let mut buffer = vec![0; CHUNK];
    let mut length = 0;
    loop {
        let read = match content.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        length += read as u64;
        match buffer[..read].iter().all(|byte| *byte == 0) {
            true => drop(file.seek(SeekFrom::Start(length))?),
            false => file.write_all(&buffer[..read])?,
        }
    }
    file.set_len(length)?;
    Ok(length)
}

/// Removes a file, a link (not what it leads to), or a folder with all it holds.
fn take_away(path: &Path) -> Result<(), GateError> {
    let removed = match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if !is_absent(&error) => Err(error).at("remove", path),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // rows: D-13, D-21
    // cases: 88
    #[test]
    fn nothing_in_the_tree_leads_the_writing_out_of_it() {
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("a.sh"), "precious").unwrap();
        let dir = tempfile::tempdir().unwrap();
        let tree = Tree { root: dir.path() };
        let plants: [fn(&Path, &Path); 5] = [
            |root, outside| symlink(outside, root.join("tests")).unwrap(),
            |root, _| fs::write(root.join("tests"), "a file").unwrap(),
            |root, outside| {
                fs::create_dir(root.join("tests")).unwrap();
                symlink(outside.join("a.sh"), root.join("tests/a.sh")).unwrap();
            },
            |root, _| fs::create_dir_all(root.join("tests/a.sh/deep")).unwrap(),
            |root, outside| {
                fs::create_dir(root.join("tests")).unwrap();
                fs::hard_link(outside.join("a.sh"), root.join("tests/a.sh")).unwrap();
            },
        ];
        for plant in plants {
            plant(dir.path(), outside.path());
            let path = Path::new("tests/a.sh");
            tree.file(path, &mut &b"frozen"[..], 0o4755).unwrap();
            assert_eq!(fs::read(dir.path().join(path)).unwrap(), b"frozen");
            let mode = fs::metadata(dir.path().join(path))
                .unwrap()
                .permissions()
                .mode();
            assert_eq!(mode & 0o7777, 0o755);
            assert!(super::super::walk::is_real(dir.path(), path));
            assert_eq!(fs::read(outside.path().join("a.sh")).unwrap(), b"precious");
            tree.remove(Path::new("tests")).unwrap();
        }
        for path in ["../x", "/x", ""] {
            assert!(
                tree.file(Path::new(path), &mut &b""[..], 0).is_err(),
                "{path}"
            );
        }
        symlink(outside.path(), dir.path().join("tests")).unwrap();
        tree.remove(Path::new("tests/a.sh")).unwrap();
        assert!(outside.path().join("a.sh").exists());
    }

    // rows: D-13
    // cases: 88, 89
    #[test]
    fn links_are_copied_as_links_and_the_rest_is_left_out() {
        let from = tempfile::tempdir().unwrap();
        let at = |name: &str| from.path().join(name);
        fs::write(at("file"), "x").unwrap();
        symlink("/etc/passwd", at("link")).unwrap();
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        let kind = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, at("pipe"), kind, mode, 0).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let tree = Tree { root: dir.path() };
        let copied = |name: &str| tree.copy(from.path(), Path::new(name), 4096).unwrap();
        assert_eq!(copied("file"), Copied::File(1));
        assert_eq!(copied("link"), Copied::Link);
        assert_eq!(copied("pipe"), Copied::Nothing);
        assert_eq!(copied("missing"), Copied::Nothing);
        let target = fs::read_link(dir.path().join("link")).unwrap();
        assert_eq!(target, Path::new("/etc/passwd"));
    }

    // rows: D-13
    // cases: 88
    #[test]
    fn a_file_of_any_length_takes_no_more_room_than_it_holds() {
        use std::os::unix::fs::MetadataExt;
        let from = tempfile::tempdir().unwrap();
        let sparse = File::create(from.path().join("sparse")).unwrap();
        sparse.set_len(1 << 40).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let tree = Tree { root: dir.path() };
        let copied = |room| tree.copy(from.path(), Path::new("sparse"), room).unwrap();
        assert_eq!(copied((1 << 40) - 1), Copied::TooLong);
        assert!(!dir.path().join("sparse").exists());

        let mut content = vec![0; 1 << 20];
        content.extend(b"end of the file");
        content.extend([0; 3 * CHUNK]);
        fs::write(from.path().join("sparse"), &content).unwrap();
        assert_eq!(copied(2 << 20), Copied::File(content.len() as u64));
        let path = dir.path().join("sparse");
        assert_eq!(fs::read(&path).unwrap(), content);
        assert!(fs::metadata(&path).unwrap().blocks() * 512 < 1 << 20);
    }
}
