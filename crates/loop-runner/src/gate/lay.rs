//! Writes files into a tree so that nothing in it leads the writing elsewhere.
//!
//! The tree holds an agent's files. A link where a folder should be would lead
//! a frozen file out of the tree; so whatever is in the way is replaced. Nobody
//! else works in the tree while it is made.

use super::{At, GateError};
use crate::git::plain_file::{self, is_absent};
use std::fs::{self, File, Permissions};
use std::io::{self, Read};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Component, Path, PathBuf};

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
        let written = io::copy(content, &mut file).at("write", &full)?;
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

    /// Copies what is at `path` below `from`: a regular file, or a link as a
    /// link. Returns the bytes, or `None` for what cannot be read or is neither.
    pub(super) fn copy(&self, from: &Path, path: &Path) -> Result<Option<u64>, GateError> {
        let source = from.join(path);
        let meta = match source.symlink_metadata() {
            Ok(meta) => meta,
            Err(error) if is_absent(&error) => return Ok(None),
            Err(error) => return Err(error).at("look at", &source),
        };
        if meta.is_symlink() {
            let target = fs::read_link(&source).at("read", &source)?;
            self.link(path, &target)?;
            return Ok(Some(0));
        }
        match plain_file::open(&source) {
            Ok(Some((file, meta))) => {
                let mut content = file.take(meta.len());
                let mode = meta.permissions().mode();
                self.file(path, &mut content, mode).map(Some)
            }
            Ok(None) => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(None),
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
        let copied = |name: &str| tree.copy(from.path(), Path::new(name)).unwrap();
        assert_eq!(copied("file"), Some(1));
        assert_eq!(copied("link"), Some(0));
        assert_eq!(copied("pipe"), None);
        assert_eq!(copied("missing"), None);
        let target = fs::read_link(dir.path().join("link")).unwrap();
        assert_eq!(target, Path::new("/etc/passwd"));
    }
}
