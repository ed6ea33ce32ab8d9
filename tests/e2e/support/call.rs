//! How the fake agent was called.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// One call of the fake agent.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) role: String,
    pub(crate) tick: u64,
    pub(crate) cwd: PathBuf,
    /// The name it was called by, and its arguments.
    pub(crate) argv: Vec<OsString>,
}

impl Call {
    /// Reads every call below `calls`, in order.
    pub(crate) fn read_all(calls: &Path) -> Vec<Self> {
        let mut numbers: Vec<u32> = fs::read_dir(calls)
            .unwrap()
            .map(|entry| {
                entry
                    .unwrap()
                    .file_name()
                    .to_str()
                    .unwrap()
                    .parse()
                    .unwrap()
            })
            .collect();
        numbers.sort_unstable();
        numbers
            .iter()
            .map(|number| Self::parse(&fs::read(calls.join(number.to_string())).unwrap()))
            .collect()
    }

    fn parse(record: &[u8]) -> Self {
        let record = record.strip_suffix(b"\0").unwrap();
        let mut fields = record.split(|byte| *byte == 0).map(OsStr::from_bytes);
        let mut text = || fields.next().unwrap().to_str().unwrap().to_owned();
        let (role, tick, cwd) = (text(), text(), text());
        let program = PathBuf::from(text());
        let name = program.file_name().unwrap().to_owned();
        Self {
            role,
            tick: tick.parse().unwrap(),
            cwd: cwd.into(),
            argv: std::iter::once(name)
                .chain(fields.map(OsStr::to_owned))
                .collect(),
        }
    }

    /// Returns the `index`-th element as text.
    pub(crate) fn arg(&self, index: usize) -> &str {
        self.argv[index].to_str().unwrap()
    }

    /// Reads the file that the `index`-th element names.
    pub(crate) fn file(&self, index: usize) -> String {
        fs::read_to_string(self.arg(index)).unwrap()
    }
}
