//! The user's crontab, of which one block between two marks is the engine's.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long the crontab of another installation is waited for.
const PATIENCE: Duration = Duration::from_secs(20);
const BETWEEN_TRIES: Duration = Duration::from_millis(20);
/// The longest crontab that is read, in bytes.
const LONGEST: u64 = 1 << 20;

/// How much of what crontab(1) says about a failure is kept, in bytes.
const LONGEST_WORDS: u64 = 4 << 10;

/// A crontab that cannot be read or changed; it is as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CrontabError {
    /// crontab(1) does not run.
    #[error("cannot run {}: {source}", program.display())]
    Run {
        /// The program.
        program: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// crontab(1) has failed.
    #[error("{} failed: {words}", program.display())]
    Failed {
        /// The program.
        program: PathBuf,
        /// What it said.
        words: String,
    },
    /// The crontab is longer than any that a person writes.
    #[error("the crontab is longer than 1 MiB")]
    TooLong,
    /// The marks do not stand in pairs.
    #[error(
        "the marks `# BEGIN {unit}` and `# END {unit}` do not stand in one pair in the crontab; \
         mend it with: crontab -e"
    )]
    Torn {
        /// The block's name.
        unit: String,
    },
}

/// Writes a block that holds `line`.
pub(super) fn block(unit: &str, line: &str) -> Vec<u8> {
    format!("{}\n{line}\n{}\n", begin(unit), end(unit)).into_bytes()
}

fn begin(unit: &str) -> String {
    format!("# BEGIN {unit}")
}

fn end(unit: &str) -> String {
    format!("# END {unit}")
}

/// Finds the block called `unit`, its marks included.
pub(super) fn find(crontab: &[u8], unit: &str) -> Result<Option<Range<usize>>, CrontabError> {
    let (begin, end) = (begin(unit), end(unit));
    let (mut begins, mut ends) = (Vec::new(), Vec::new());
    let mut at = 0;
    for line in crontab.split_inclusive(|byte| *byte == b'\n') {
        // An editor may have given the whole file other ends of lines.
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        if text == begin.as_bytes() {
            begins.push(at);
        }
        at += line.len();
        if text == end.as_bytes() {
            ends.push(at);
        }
    }
    match (&begins[..], &ends[..]) {
        ([], []) => Ok(None),
        ([from], [to]) if from < to => Ok(Some(*from..*to)),
        _ => Err(CrontabError::Torn {
            unit: unit.to_owned(),
        }),
    }
}

/// Returns the crontab with another block in the place of the one called `unit`, or
/// without it. A new one comes first: there no setting of the user's, such as
/// another shell, is in force yet, and a last line without its end does no harm.
pub(super) fn replaced(
    crontab: &[u8],
    unit: &str,
    block: Option<&[u8]>,
) -> Result<Vec<u8>, CrontabError> {
    let place = find(crontab, unit)?.unwrap_or(0..0);
    let parts = [
        &crontab[..place.start],
        block.unwrap_or_default(),
        &crontab[place.end..],
    ];
    Ok(parts.concat())
}

/// Reads the user's crontab; a user without one has an empty one.
pub(super) fn read(program: &Path) -> Result<Vec<u8>, CrontabError> {
    let run = |source| CrontabError::Run {
        program: program.to_owned(),
        source,
    };
    let mut child = start(program, "-l").map_err(run)?;
    drop(child.stdin.take());
    let mut crontab = Vec::new();
    if let Some(stdout) = child.stdout.take() {
        let mut stdout = stdout.take(LONGEST + 1);
        stdout.read_to_end(&mut crontab).map_err(run)?;
    }
    let too_long = crontab.len() as u64 > LONGEST;
    match finish(program, child) {
        // It may have failed because nobody read on.
        _ if too_long => Err(CrontabError::TooLong),
        Err(CrontabError::Failed { words, .. }) if words.contains("no crontab for") => {
            Ok(Vec::new())
        }
        Err(error) => Err(error),
        Ok(()) => Ok(crontab),
    }
}

/// Keeps every other `loop` of this machine from changing a crontab, as long as the
/// file is open that is returned: whoever reads one before another has written it
/// would take the other's lines out again.
pub(super) fn alone(program: &Path) -> Result<Option<File>, CrontabError> {
    let run = |source| CrontabError::Run {
        program: program.to_owned(),
        source,
    };
    // A program that may be run and not read has no lock that everybody could take.
    let Ok(lock) = File::open(program) else {
        return Ok(None);
    };
    let asked = Instant::now();
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(Some(lock)),
            Err(TryLockError::WouldBlock) if asked.elapsed() < PATIENCE => sleep(BETWEEN_TRIES),
            Err(error) => return Err(run(error.into())),
        }
    }
}

/// Replaces the user's crontab.
pub(super) fn write(program: &Path, crontab: &[u8]) -> Result<(), CrontabError> {
    let mut child = start(program, "-").map_err(|source| CrontabError::Run {
        program: program.to_owned(),
        source,
    })?;
    let written = child
        .stdin
        .take()
        .map_or(Ok(()), |mut stdin| stdin.write_all(crontab));
    finish(program, child)?;
    written.map_err(|source| CrontabError::Run {
        program: program.to_owned(),
        source,
    })
}

fn start(program: &Path, argument: &str) -> io::Result<Child> {
    Command::new(program)
        .arg(argument)
        // Its words are looked at.
        .env("LC_ALL", "C")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
}

fn finish(program: &Path, mut child: Child) -> Result<(), CrontabError> {
    let run = |source| CrontabError::Run {
        program: program.to_owned(),
        source,
    };
    drop(child.stdout.take());
    let mut words = Vec::new();
    if let Some(stderr) = child.stderr.take() {
        stderr
            .take(LONGEST_WORDS)
            .read_to_end(&mut words)
            .map_err(run)?;
    }
    let status = child.wait().map_err(run)?;
    if status.success() {
        return Ok(());
    }
    let words = String::from_utf8_lossy(&words).trim().to_owned();
    Err(CrontabError::Failed {
        program: program.to_owned(),
        words: if words.is_empty() {
            status.to_string()
        } else {
            words
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const UNIT: &str = "automaton-app-00000000-fix";

    #[test]
    fn what_stands_outside_the_block_stays() {
        let first = block(UNIT, "* * * * * a");
        let second = block(UNIT, "0 * * * * b");
        for theirs in [
            &b""[..],
            b"0 5 * * * backup\n",
            b"PATH=/bin\r\n0 5 * * * backup\r\n",
            b"0 5 * * * no end",
            b"\xff\xfe\n\n\n",
            b"# BEGIN automaton-app-00000000-fix-2\n# END automaton-app-00000000-fix-2\n",
        ] {
            let with = replaced(theirs, UNIT, Some(&first)).unwrap();
            assert_eq!(with, [&first[..], theirs].concat());
            let other = replaced(&with, UNIT, Some(&second)).unwrap();
            assert_eq!(other, [&second[..], theirs].concat());
            assert_eq!(replaced(&other, UNIT, None).unwrap(), theirs);
            assert_eq!(replaced(theirs, UNIT, None).unwrap(), theirs);
        }
        // It stays where the user has put it, and is known in other ends of lines.
        let moved = [b"1\r\n", &first[..], b"2"].concat();
        let moved = String::from_utf8(moved).unwrap();
        let moved = moved.replace("fix\n", "fix\r\n").into_bytes();
        let other = replaced(&moved, UNIT, Some(&second)).unwrap();
        assert_eq!(other, [b"1\r\n", &second[..], b"2"].concat());
    }

    #[test]
    fn a_torn_block_is_left_alone() {
        let whole = block(UNIT, "x");
        for torn in [
            begin(UNIT).into_bytes(),
            end(UNIT).into_bytes(),
            format!("{}\n{}\n", end(UNIT), begin(UNIT)).into_bytes(),
            [&whole[..], &whole[..]].concat(),
        ] {
            assert!(matches!(
                replaced(&torn, UNIT, Some(b"")),
                Err(CrontabError::Torn { .. })
            ));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_bytes_come_back(theirs: Vec<u8>, line in "[ -~]{0,40}") {
            let with = replaced(&theirs, UNIT, Some(&block(UNIT, &line))).unwrap();
            prop_assert_eq!(find(&with, UNIT).unwrap(), Some(0..with.len() - theirs.len()));
            prop_assert_eq!(replaced(&with, UNIT, None).unwrap(), theirs);
        }
    }
}
