//! A child's output: to disk, bounded, start and end kept, memory flat.

use super::file::{self, Digesting};
use serde::{Deserialize, Serialize};
use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom, Write},
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
};

/// How much of a stream there was, and how much of it was kept.
///
/// When bytes were omitted, the file holds the first half of the cap, a line
/// `[... N bytes omitted ...]`, and the last half.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Captured {
    /// Bytes that the child wrote.
    pub total: u64,
    /// Bytes from the middle that were not kept.
    pub omitted: u64,
    /// The length of the file in bytes.
    pub length: u64,
    /// SHA-256 of the file's content, in lowercase hexadecimal digits.
    pub sha256: String,
    /// Why the file is incomplete, such as a full disk.
    pub fault: Option<String>,
}

impl Captured {
    /// Returns the number of the child's bytes that were kept.
    pub fn kept(&self) -> u64 {
        self.total - self.omitted
    }

    /// Copies what was kept from the command's output file at `path`.
    ///
    /// Whoever can write in the file's folder can put another file in its place
    /// or write into it. So links are not followed, pipes are not waited for,
    /// no more is read than was kept, and the content has to be what was
    /// written when the command ran.
    ///
    /// # Errors
    ///
    /// Fails with [`io::ErrorKind::InvalidData`] if the file is not the one that
    /// was written; what has reached `to` must not be used then. Fails too if
    /// the capture has a [`fault`](Self::fault), or if the system refuses.
    pub fn copy(&self, path: &Path, to: &mut impl Write) -> io::Result<()> {
        if let Some(fault) = &self.fault {
            return Err(io::Error::other(fault.clone()));
        }
        let mut from = file::open(path)?.take(self.length.saturating_add(1));
        let mut to = Digesting::new(to);
        io::copy(&mut from, &mut to)?;
        to.flush()?;
        if to.finish() == (self.length, self.sha256.clone()) {
            Ok(())
        } else {
            Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "the file was changed by someone else",
            ))
        }
    }
}

/// Writes a stream's start to its file and its end to a ring in an unnamed file
/// of the same folder.
///
/// A failed write stops the writing, never the reading: a child must not block
/// or die because our disk is full.
pub(super) struct Capture {
    folder: PathBuf,
    head: Digesting<File>,
    head_cap: u64,
    ring: Option<File>,
    ring_cap: u64,
    total: u64,
    fault: Option<io::Error>,
}

impl Capture {
    /// Creates a new file at `path`, in place of what is there.
    pub(super) fn create(path: &Path, cap: u64) -> io::Result<Self> {
        let folder = path
            .parent()
            .map_or_else(PathBuf::new, |folder| Path::new(".").join(folder));
        Ok(Self::to(file::create(path)?, folder, cap))
    }

    fn to(head: File, folder: PathBuf, cap: u64) -> Self {
        Self {
            folder,
            head: Digesting::new(head),
            head_cap: cap / 2,
            ring: None,
            ring_cap: cap - cap / 2,
            total: 0,
            fault: None,
        }
    }

    /// Adds bytes to the stream's end.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        if self.fault.is_none() {
            self.fault = self.write(bytes).err();
        }
        self.total += bytes.len() as u64;
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let room = self.head_cap.saturating_sub(self.total);
        let (head, rest) = bytes.split_at(at_most(room, bytes));
        self.head.write_all(head)?;
        if rest.is_empty() || self.ring_cap == 0 {
            return Ok(());
        }
        let from = self.total + head.len() as u64 - self.head_cap;
        self.write_ring(rest, from)
    }

    /// Writes `bytes`, the first of which is number `from` after the head.
    fn write_ring(&mut self, mut bytes: &[u8], mut from: u64) -> io::Result<()> {
        if self.ring.is_none() {
            self.ring = Some(tempfile::tempfile_in(&self.folder)?);
        }
        let Some(ring) = &self.ring else {
            return Ok(());
        };
        while !bytes.is_empty() {
            let at = from % self.ring_cap;
            let (now, later) = bytes.split_at(at_most(self.ring_cap - at, bytes));
            ring.write_all_at(now, at)?;
            from += now.len() as u64;
            bytes = later;
        }
        Ok(())
    }

    /// Puts the stream's end behind its start.
    pub(super) fn finish(mut self) -> Captured {
        let after_head = self.total.saturating_sub(self.head_cap);
        let omitted = after_head.saturating_sub(self.ring_cap);
        if self.fault.is_none() {
            self.fault = self.join(after_head, omitted).err();
        }
        let (length, sha256) = self.head.finish();
        Captured {
            total: self.total,
            omitted,
            length,
            sha256,
            fault: self.fault.map(|fault| fault.to_string()),
        }
    }

    fn join(&mut self, after_head: u64, omitted: u64) -> io::Result<()> {
        if omitted > 0 {
            writeln!(self.head, "\n[... {omitted} bytes omitted ...]")?;
        }
        let Some(mut ring) = self.ring.take() else {
            return Ok(());
        };
        if omitted > 0 {
            // Full: the oldest byte is where the next one would go.
            ring.seek(SeekFrom::Start(after_head % self.ring_cap))?;
            io::copy(&mut ring, &mut self.head)?;
        }
        ring.rewind()?;
        let newest = if omitted > 0 {
            after_head % self.ring_cap
        } else {
            after_head
        };
        io::copy(&mut ring.take(newest), &mut self.head)?;
        Ok(())
    }
}

/// The length of `bytes`, but at most `room`.
fn at_most(room: u64, bytes: &[u8]) -> usize {
    usize::try_from(room).map_or(bytes.len(), |room| room.min(bytes.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn capture(cap: u64, chunks: &[Vec<u8>]) -> (Captured, Vec<u8>) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out");
        let mut capture = Capture::create(&path, cap).unwrap();
        chunks.iter().for_each(|chunk| capture.push(chunk));
        let captured = capture.finish();
        let files = std::fs::read_dir(dir.path()).unwrap().count();
        assert_eq!(files, 1, "nothing is left beside the file");
        (captured, std::fs::read(path).unwrap())
    }

    proptest! {
        // cases: 68
        #[test]
        fn start_and_end_are_kept(
            cap in 0_u64..40,
            chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..30), 0..12),
        ) {
            let all = chunks.concat();
            let (captured, file) = capture(cap, &chunks);
            let omitted = all.len().saturating_sub(cap as usize);
            prop_assert_eq!(captured.total, all.len() as u64);
            prop_assert_eq!(captured.omitted, omitted as u64);
            prop_assert_eq!(captured.fault, None);
            let expected = if omitted == 0 {
                all
            } else {
                let half = cap as usize / 2;
                let marker = format!("\n[... {omitted} bytes omitted ...]\n");
                [&all[..half], marker.as_bytes(), &all[half + omitted..]].concat()
            };
            prop_assert_eq!(captured.length, expected.len() as u64);
            prop_assert_eq!(file, expected);
        }
    }

    #[test]
    fn full_disk_is_told_and_does_not_stop_the_count() {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let mut capture = Capture::to(full, PathBuf::new(), 100);
        capture.push(b"abc");
        capture.push(b"def");
        let captured = capture.finish();
        assert_eq!(captured.total, 6);
        assert!(captured.fault.is_some());
        assert!(
            captured
                .copy(Path::new("/dev/null"), &mut Vec::new())
                .is_err()
        );
    }

    // cases: 68
    #[test]
    fn what_stands_in_the_place_of_the_file_is_replaced_and_not_written_through() {
        let dir = tempfile::tempdir().unwrap();
        let [out, precious] = ["out", "precious"].map(|name| dir.path().join(name));
        let planted: [fn(&Path, &Path); 4] = [
            |precious, out| std::os::unix::fs::symlink(precious, out).unwrap(),
            |precious, out| std::fs::hard_link(precious, out).unwrap(),
            |_, out| fifo(out),
            |_, out| std::fs::write(out, "longer than what comes").unwrap(),
        ];
        for plant in planted {
            std::fs::write(&precious, "precious").unwrap();
            plant(&precious, &out);
            let mut capture = Capture::create(&out, 100).unwrap();
            capture.push(b"new");
            capture.finish();
            assert_eq!(std::fs::read(&precious).unwrap(), b"precious");
            assert_eq!(std::fs::read(&out).unwrap(), b"new");
            assert!(!out.is_symlink());
            std::fs::remove_file(&out).unwrap();
        }
    }

    #[test]
    fn only_what_was_captured_is_copied() {
        let dir = tempfile::tempdir().unwrap();
        let [out, same] = ["out", "same"].map(|name| dir.path().join(name));
        let mut capture = Capture::create(&out, 4).unwrap();
        capture.push(b"abcdef");
        let captured = capture.finish();
        let copied = || {
            let mut to = Vec::new();
            captured.copy(&out, &mut to).map(|()| to).ok()
        };
        let whole = b"ab\n[... 2 bytes omitted ...]\nef".to_vec();
        assert_eq!(copied(), Some(whole.clone()));

        let swap: [fn(&Path, &Path); 5] = [
            |same, out| std::os::unix::fs::symlink(same, out).unwrap(),
            |same, out| std::fs::hard_link(same, out).unwrap(),
            |_, out| fifo(out),
            |same, out| {
                let rest = std::fs::read(same).unwrap().split_off(3);
                std::fs::write(out, rest).unwrap();
            },
            |_, out| File::create(out).unwrap().set_len(1 << 40).unwrap(),
        ];
        std::fs::write(&same, whole).unwrap();
        for (number, swap) in swap.into_iter().enumerate() {
            std::fs::remove_file(&out).unwrap();
            swap(&same, &out);
            assert_eq!(copied(), None, "{number}");
        }
        std::fs::remove_file(&out).unwrap();
        assert_eq!(copied(), None);
    }

    fn fifo(path: &Path) {
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        let kind = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, path, kind, mode, 0).unwrap();
    }
}
