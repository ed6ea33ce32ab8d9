//! The files of an autonomous run in a project: `TASK.md` for the person, the
//! gate that fails until it is written, and what explains both.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// The `TASK.md` that nobody has filled in yet; a run refuses it.
pub const TASK: &str = include_str!("../templates/run-loop/TASK.md");

/// A file that belongs to the scaffold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScaffoldFile {
    /// Its path below the project.
    pub path: &'static str,
    /// Its text.
    pub text: &'static str,
    /// Whether it is a program.
    pub executable: bool,
}

/// What became of a file of the scaffold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placed {
    /// It was written.
    Written,
    /// Something of that name is there, and stays as it is.
    Kept,
    /// A folder on its way is a link or a file; nothing is written behind it.
    LeftOut,
}

/// A file of the scaffold that could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}: {source}", path.display())]
pub struct ScaffoldError {
    /// The file.
    pub path: PathBuf,
    /// What the system said.
    pub source: io::Error,
}

/// Lists the files of the scaffold, in the order in which a person reads them.
#[must_use]
pub fn files() -> Vec<ScaffoldFile> {
    macro_rules! shipped {
        ($($path:literal),*) => {
            vec![$(ScaffoldFile {
                path: $path,
                text: include_str!(concat!("../templates/run-loop/", $path)),
                executable: false,
            }),*]
        };
    }
    let mut files = shipped![
        "TASK.md",
        "LOOP.md",
        "STATE.md",
        "scripts/verify.sh",
        "scripts/hashes.sh",
        "CLAUDE.md",
        ".claude/commands/run-loop.md",
        ".claude/commands/iterate.md",
        ".claude/commands/setup-loop.md"
    ];
    for file in &mut files {
        file.executable = file.path.ends_with(".sh");
    }
    // The prompt itself, so that the two cannot differ.
    let planner = loop_prompts::builtin().iter();
    files.extend(
        planner
            .filter(|prompt| prompt.file_name == "loop-planner.md")
            .map(|prompt| ScaffoldFile {
                path: ".claude/agents/planner.md",
                text: prompt.text,
                executable: false,
            }),
    );
    files
}

/// Writes each file of the scaffold that is not there yet below `root`, whole or
/// not at all, and says what became of each. Starts nothing (row G-30).
///
/// # Errors
///
/// [`ScaffoldError`] for the first file that could not be written.
pub fn write(root: &Path) -> Result<Vec<(&'static str, Placed)>, ScaffoldError> {
    let mut placed = Vec::new();
    for file in files() {
        let became = place(root, &file).map_err(|source| ScaffoldError {
            path: root.join(file.path),
            source,
        })?;
        placed.push((file.path, became));
    }
    Ok(placed)
}

fn place(root: &Path, file: &ScaffoldFile) -> io::Result<Placed> {
    let Some(folder) = make_folders(root, file.path)? else {
        return Ok(Placed::LeftOut);
    };
    let target = root.join(file.path);
    if target.symlink_metadata().is_ok() {
        return Ok(Placed::Kept);
    }
    let mode = if file.executable { 0o777 } else { 0o666 };
    let mut new: NamedTempFile = tempfile::Builder::new()
        .prefix(".scaffold-")
        // The user's umask takes its part of it.
        .permissions(fs::Permissions::from_mode(mode))
        .tempfile_in(folder)?;
    new.write_all(file.text.as_bytes())?;
    match new.persist_noclobber(&target) {
        Ok(_) => Ok(Placed::Written),
        // Somebody was faster.
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(Placed::Kept),
        Err(error) => Err(error.error),
    }
}

/// Makes the folders on the way to `path` below `root`, and returns the last;
/// `None` when one of them is no folder of its own, but a link or a file.
fn make_folders(root: &Path, path: &str) -> io::Result<Option<PathBuf>> {
    let mut folder = root.to_owned();
    let parents = Path::new(path).parent().into_iter().flatten();
    for part in parents {
        folder.push(part);
        match fs::create_dir(&folder) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                if !folder.symlink_metadata()?.is_dir() {
                    return Ok(None);
                }
            }
            Err(error) => return Err(error),
        }
    }
    Ok(Some(folder))
}

#[cfg(test)]
mod tests {
    use super::*;
    use loop_core::gate::is_unwritten;
    use loop_core::plan::{PLACEHOLDER, Placeholder, placeholder};
    use loop_core::run::StateFile;
    use std::os::unix::fs::symlink;

    fn text(path: &str) -> &'static str {
        let found = files().into_iter().find(|file| file.path == path);
        found.unwrap().text
    }

    // rows: G-02, G-13, G-26, G-27, G-31, U-38, U-41
    #[test]
    fn what_nobody_has_written_says_so() {
        let shipped = TASK.as_bytes();
        let other = placeholder(Some(shipped), b"another template");
        assert_eq!(
            placeholder(Some(shipped), shipped),
            Some(Placeholder::Template)
        );
        assert_eq!(other, Some(Placeholder::Marked));
        assert_eq!(PLACEHOLDER, loop_prompts::PLACEHOLDER_MARKER);
        assert_eq!(loop_worksource::done_when(TASK), [""; 0]);
        let filled = TASK.replace("\n-\n", "\n- it works\n");
        assert_eq!(loop_worksource::done_when(&filled), ["it works"]);
        assert!(is_unwritten(text("scripts/verify.sh")));
        assert!(text("scripts/verify.sh").contains("FROZEN"));
        assert_eq!(text("STATE.md"), StateFile::default().to_string());
    }

    // rows: G-09, G-10, G-29, G-32
    // cases: 18, 129
    #[test]
    fn the_texts_state_the_rules_of_a_run() {
        let flow = text("LOOP.md");
        for said in [
            "repeats, at least weekly",
            "It is bounded:",
            "Something can automatically reject bad output",
            "can do it end to end",
            "\"Done\" is objective",
            "| stuck |",
            "| tampering |",
        ] {
            assert!(flow.contains(said), "{said}");
        }
        let planner = text(".claude/agents/planner.md");
        for said in [
            "**Bounded**",
            "reject bad output",
            "end to end",
            "objective",
        ] {
            assert!(planner.contains(said), "{said}");
        }
        assert!(text(".claude/commands/iterate.md").contains("Never edit the gate"));
        assert!(text("CLAUDE.md").contains("Never edit the gate"));
        assert!(text(".claude/commands/setup-loop.md").contains("starts no run"));
    }

    // rows: G-30, G-32
    #[test]
    fn only_what_is_missing_is_written() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        fs::write(root.join("CLAUDE.md"), "mine").unwrap();
        symlink("nowhere", root.join("TASK.md")).unwrap();
        let placed = write(root).unwrap();
        for (path, became) in &placed {
            let expected = match *path {
                "CLAUDE.md" | "TASK.md" => Placed::Kept,
                _ => Placed::Written,
            };
            assert_eq!(*became, expected, "{path}");
        }
        assert_eq!(placed.len(), 10);
        assert_eq!(fs::read(root.join("CLAUDE.md")).unwrap(), b"mine");
        assert!(!root.join("nowhere").exists());
        for file in files()
            .iter()
            .filter(|file| !matches!(file.path, "CLAUDE.md" | "TASK.md"))
        {
            let path = root.join(file.path);
            assert_eq!(fs::read_to_string(&path).unwrap(), file.text);
            let mode = path.metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o100 != 0, file.executable, "{}", file.path);
            assert_ne!(mode & 0o400, 0, "{}", file.path);
        }
        let again = write(root).unwrap();
        assert!(again.iter().all(|(_, became)| *became == Placed::Kept));
        let mut names: Vec<_> = fs::read_dir(root)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(
            names,
            [
                ".claude",
                "CLAUDE.md",
                "LOOP.md",
                "STATE.md",
                "TASK.md",
                "scripts"
            ]
        );
    }

    // rows: G-30
    #[test]
    fn nothing_is_written_behind_a_link() {
        let outside = tempfile::tempdir().unwrap();
        let root = tempfile::tempdir().unwrap();
        symlink(outside.path(), root.path().join("scripts")).unwrap();
        fs::write(root.path().join(".claude"), "a file").unwrap();
        let placed = write(root.path()).unwrap();
        let left_out = placed
            .iter()
            .filter(|(_, became)| *became == Placed::LeftOut);
        assert_eq!(left_out.count(), 6);
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
        assert_eq!(fs::read(root.path().join(".claude")).unwrap(), b"a file");
    }
}
