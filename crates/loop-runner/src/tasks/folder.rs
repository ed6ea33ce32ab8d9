//! Files in one folder, opened by name and never through a link.
//!
//! An agent can write where tasks live. Everything below the tasks folder is
//! therefore opened relative to a descriptor of its parent and without
//! following links, so that nothing it puts there leads the engine elsewhere,
//! not even between a check and a use.

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;
use std::fs::{File, TryLockError};
use std::io::{self, Read, Write};
use std::ops::Deref;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const LOCK: &str = ".lock";
/// The longest wait for another process; it holds the lock for milliseconds.
const LOCK_WAIT: Duration = Duration::from_secs(5);
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// An error, and the file that it is about.
#[derive(Debug, thiserror::Error)]
#[error("{}: {source}", path.display())]
pub struct FileError {
    /// The file.
    pub path: PathBuf,
    /// What the system said.
    pub source: io::Error,
}

/// An open folder.
#[derive(Debug)]
pub(super) struct Folder {
    file: File,
    path: PathBuf,
}

impl Folder {
    /// Opens a folder that the caller trusts; makes it if `make` says so.
    pub(super) fn open(path: &Path, make: bool) -> Result<Self, FileError> {
        let at = |source| FileError {
            path: path.to_owned(),
            source,
        };
        if make {
            std::fs::create_dir_all(path).map_err(at)?;
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = rustix::fs::open(path, flags, Mode::empty()).map_err(|errno| at(errno.into()))?;
        Ok(Self {
            file: File::from(fd),
            path: path.to_owned(),
        })
    }

    /// Opens a folder in this one.
    pub(super) fn sub(&self, name: &str) -> Result<Self, FileError> {
        let file = self.open_at(name, OFlags::RDONLY | OFlags::DIRECTORY)?;
        Ok(Self {
            file,
            path: self.path.join(name),
        })
    }

    /// Makes a folder in this one, if it is not there, and opens it.
    pub(super) fn make(&self, name: &str) -> Result<Self, FileError> {
        match rustix::fs::mkdirat(&self.file, name, Mode::from_raw_mode(0o777)) {
            Ok(()) => self.sync()?,
            Err(Errno::EXIST) => {}
            Err(errno) => return Err(self.error(name, errno.into())),
        }
        self.sub(name)
    }

    /// Returns the path of `name`, for people.
    pub(super) fn path_of(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Reads the first `limit` bytes of a file; `None` when there is none.
    pub(super) fn read(&self, name: &str, limit: u64) -> Result<Option<Vec<u8>>, FileError> {
        // Without O_NONBLOCK a pipe in the file's place would wait for a writer.
        let file = match self.open_at(name, OFlags::RDONLY | OFlags::NONBLOCK) {
            Ok(file) => file,
            Err(error) if error.source.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        self.read_from(&file, name, limit).map(Some)
    }

    /// Opens a file that has no name but this, whose content is to become
    /// public: a second name may be that of someone's secret.
    pub(super) fn open_single(&self, name: &str) -> Result<File, FileError> {
        let file = self.open_at(name, OFlags::RDONLY | OFlags::NONBLOCK)?;
        let refused = match file.metadata() {
            Ok(meta) if !meta.is_file() => io::Error::other("is not a regular file"),
            Ok(meta) if meta.nlink() > 1 => io::Error::other("has another name elsewhere"),
            Ok(_) => return Ok(file),
            Err(error) => error,
        };
        Err(self.error(name, refused))
    }

    fn read_from(&self, file: &File, name: &str, limit: u64) -> Result<Vec<u8>, FileError> {
        let bytes = file.metadata().and_then(|meta| {
            if !meta.is_file() {
                return Err(io::Error::other("is not a regular file"));
            }
            let mut bytes = Vec::new();
            file.take(limit).read_to_end(&mut bytes)?;
            Ok(bytes)
        });
        bytes.map_err(|source| self.error(name, source))
    }

    /// Lists the regular files by name, in no order.
    pub(super) fn files(&self) -> Result<Vec<String>, FileError> {
        let at = |errno: Errno| self.error(".", errno.into());
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::read_from(&self.file).map_err(at)? {
            let entry = entry.map_err(at)?;
            let name = entry.file_name();
            let stat = rustix::fs::statat(&self.file, name, AtFlags::SYMLINK_NOFOLLOW);
            // An entry that vanished meanwhile is none.
            if stat.is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode).is_file()) {
                names.push(name.to_string_lossy().into_owned());
            }
        }
        Ok(names)
    }

    /// Replaces a file's content in one move, if it is still `was`; the file
    /// keeps its permissions. Returns whether it was replaced.
    pub(super) fn exchange(&self, name: &str, was: &[u8], new: &[u8]) -> Result<bool, FileError> {
        let file = self.open_at(name, OFlags::RDONLY | OFlags::NONBLOCK)?;
        if self.read_from(&file, name, was.len() as u64 + 1)? != was {
            return Ok(false);
        }
        let permissions = file.metadata().map(|meta| meta.permissions());
        // No lock keeps this name free for us, so it has to be our own.
        let temp = format!(".{name}.{}.new", std::process::id());
        let written = self.write_new(&temp, &mut &*new)?;
        permissions
            .and_then(|permissions| written.set_permissions(permissions))
            .map_err(|source| self.error(&temp, source))?;
        self.rename(&temp, name)?;
        Ok(true)
    }

    /// Takes the folder's lock; only the holder may write.
    pub(super) fn lock(self) -> Result<Locked, FileError> {
        let lock = self.open_at(LOCK, OFlags::RDWR | OFlags::CREATE)?;
        let deadline = Instant::now() + LOCK_WAIT;
        loop {
            let source = match lock.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => {
                    std::thread::sleep(LOCK_PAUSE);
                    continue;
                }
                Err(TryLockError::WouldBlock) => io::Error::new(
                    io::ErrorKind::TimedOut,
                    "another process holds the lock for longer than it should; try again",
                ),
                Err(TryLockError::Error(source)) => source,
            };
            return Err(self.error(LOCK, source));
        }
        Ok(Locked {
            folder: self,
            _lock: lock,
        })
    }

    fn open_at(&self, name: &str, flags: OFlags) -> Result<File, FileError> {
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        rustix::fs::openat(&self.file, name, flags, Mode::from_raw_mode(0o666))
            .map(File::from)
            .map_err(|errno| match errno {
                Errno::LOOP => io::Error::other("is a link, and links are not followed here"),
                Errno::NOTDIR => io::Error::other("is not a folder; links are not followed here"),
                other => other.into(),
            })
            .map_err(|source| self.error(name, source))
    }

    /// Makes a file, in place of one that a crash left behind, and puts its
    /// content on disk.
    fn write_new(&self, name: &str, content: &mut dyn Read) -> Result<File, FileError> {
        self.unlink(name)?;
        let mut file = self.open_at(name, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL)?;
        io::copy(content, &mut file)
            .and_then(|_| file.flush())
            .and_then(|()| file.sync_all())
            .map_err(|source| self.error(name, source))?;
        Ok(file)
    }

    fn rename(&self, from: &str, to: &str) -> Result<(), FileError> {
        rustix::fs::renameat(&self.file, from, &self.file, to)
            .map_err(|errno| self.error(to, errno.into()))?;
        self.sync()
    }

    fn unlink(&self, name: &str) -> Result<(), FileError> {
        match rustix::fs::unlinkat(&self.file, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(self.error(name, errno.into())),
        }
    }

    fn sync(&self) -> Result<(), FileError> {
        self.file.sync_all().map_err(|source| FileError {
            path: self.path.clone(),
            source,
        })
    }

    fn error(&self, name: &str, source: io::Error) -> FileError {
        FileError {
            path: self.path_of(name),
            source,
        }
    }
}

/// A folder whose lock this process holds until it is dropped.
#[derive(Debug)]
pub(super) struct Locked {
    folder: Folder,
    _lock: File,
}

impl Deref for Locked {
    type Target = Folder;

    fn deref(&self) -> &Folder {
        &self.folder
    }
}

impl Locked {
    /// Replaces a file's content in one move that survives a power cut.
    pub(super) fn replace(&self, name: &str, bytes: &[u8]) -> Result<(), FileError> {
        let temp = temp_name(name);
        self.write_new(&temp, &mut &*bytes)?;
        self.rename(&temp, name)
    }

    /// Makes a file in one move, unless something of that name is there.
    /// Returns whether it was made.
    pub(super) fn add(&self, name: &str, content: &mut dyn Read) -> Result<bool, FileError> {
        let temp = temp_name(name);
        self.write_new(&temp, content)?;
        let linked = rustix::fs::linkat(&self.file, &temp, &self.file, name, AtFlags::empty());
        self.unlink(&temp)?;
        match linked {
            Ok(()) => self.sync().map(|()| true),
            Err(Errno::EXIST) => Ok(false),
            Err(errno) => Err(self.error(name, errno.into())),
        }
    }

    /// Removes a file, if it is there.
    pub(super) fn remove(&self, name: &str) -> Result<(), FileError> {
        self.unlink(name)
    }
}

/// Returns the name of a file that is being written. The lock keeps it free for
/// us; one that a crash left behind is made anew.
fn temp_name(name: &str) -> String {
    format!(".{name}.new")
}
