//! Whether what judges the work is what it was.

use super::entry::{Entry, EntryKind};
use super::frozen::{CACHES, Frozen, Look};
use super::named::scripts;
use super::path_text::{to_path, to_text};
use super::program::below;
use super::walk::{Walk, is_real};
use super::{GateContext, GateError, process};
use crate::hash::{hex, sha256_hex};
use crate::holder::{Command, Environment};
use loop_core::config::Gate;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// What stands before the path of a file of the overlay.
pub(super) const OVERLAY: &str = "gate.overlay: ";
/// How many frozen files there can be.
const MAX_FILES: usize = 20_000;

/// Everything that judges the work, at one moment.
///
/// It covers the script of the gate's command and of `gate.setup`, what
/// `gate.frozen` names, further paths of the caller's, the files of the overlay,
/// the settings of the gate, and which program is run. Contents and links'
/// targets count; times and permissions do not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint {
    /// One value for all of it, 64 hexadecimal digits.
    pub sha256: String,
    /// SHA-256 of the settings in `loop.json` that decide what is run.
    settings: String,
    /// The program, as a path; null when there is none of that name.
    program: Option<String>,
    /// SHA-256 of the program's content when it lies inside the project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    program_sha256: Option<String>,
    /// What is frozen in the project, by path.
    files: BTreeMap<String, Entry>,
    /// What is in the overlay, by path.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    overlay: BTreeMap<String, Entry>,
}

/// What a fingerprint is taken of.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The project's folder in the tree that is looked at.
    pub folder: &'a Path,
    /// The gate.
    pub gate: &'a Gate,
    /// The environment that the gate gets: its `PATH` finds the program.
    pub environment: &'a Environment,
    /// The folder of the overlay.
    pub overlay: Option<&'a Path>,
    /// Further paths below the project's folder, such as `TASK.md`.
    pub extra: &'a [&'a str],
    /// Set to give up.
    pub stop: &'a AtomicBool,
}

/// One thing that is not as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Mismatch {
    /// The path, below the project's folder or as it was named.
    pub path: String,
    /// How it differs, in a few words.
    pub what: String,
}

impl Fingerprint {
    /// Takes the fingerprint of a loop's gate, where its task is worked on.
    ///
    /// # Errors
    ///
    /// As for [`Fingerprint::take`], and when the overlay cannot be used.
    pub fn of(context: &GateContext<'_>, extra: &[&str]) -> Result<Self, GateError> {
        let overlay = context.overlay()?;
        Self::take(&Request {
            folder: &context.folder(),
            gate: context.gate,
            environment: &process::environment(context, None),
            overlay: overlay.as_deref(),
            extra,
            stop: context.stop,
        })
    }

    /// Takes a fingerprint.
    ///
    /// # Errors
    ///
    /// [`GateError`] when a folder cannot be read, a pattern means nothing, or
    /// there is too much to read.
    pub fn take(request: &Request<'_>) -> Result<Self, GateError> {
        let Request { folder, gate, .. } = *request;
        let mut paths = BTreeSet::new();
        paths.extend(scripts(gate, folder));
        let named = gate.frozen().iter().map(|path| path.as_str());
        let look = Look {
            root: folder,
            passed_by: &CACHES,
            stop: request.stop,
        };
        let mut links = Vec::new();
        for pattern in named.chain(request.extra.iter().copied()) {
            let frozen = Frozen::parse(pattern)?;
            frozen.collect(&look, &mut paths)?;
            links.extend(frozen.link_to_it(folder));
        }
        follow(folder, request.stop, &mut paths)?;
        // All else that these lead to is not what was named.
        paths.extend(links);
        let (program, program_sha256) = program(request)?;
        let mut taken = Self {
            sha256: String::new(),
            settings: settings(gate),
            program,
            program_sha256,
            files: entries(folder, &paths)?,
            overlay: match request.overlay {
                Some(overlay) => below_folder(overlay, request.stop)?,
                None => BTreeMap::new(),
            },
        };
        taken.sha256 = taken.digest();
        Ok(taken)
    }

    /// Takes files out of what is frozen in the project.
    pub(super) fn without(mut self, names: &[String]) -> Self {
        self.files.retain(|name, _| !names.contains(name));
        self.sha256 = self.digest();
        self
    }

    /// Returns what is frozen in the project, by path.
    #[must_use]
    pub fn files(&self) -> &BTreeMap<String, Entry> {
        &self.files
    }

    /// Returns the paths of what is frozen in the project.
    pub(super) fn paths(&self) -> BTreeSet<PathBuf> {
        self.files.keys().map(|name| to_path(name)).collect()
    }

    /// Returns what is in the overlay, by path.
    #[must_use]
    pub fn overlay(&self) -> &BTreeMap<String, Entry> {
        &self.overlay
    }

    /// Returns the program that the gate runs, if there is one.
    #[must_use]
    pub fn program(&self) -> Option<&str> {
        self.program.as_deref()
    }

    /// Whether it covers at least one file that judges the work.
    #[must_use]
    pub fn has_files(&self) -> bool {
        let mut all = self.files.values().chain(self.overlay.values());
        all.any(|entry| entry.kind == EntryKind::File)
    }

    /// Lists what is different `now`, sorted by path; nothing when all is the same.
    #[must_use]
    pub fn compare(&self, now: &Self) -> Vec<Mismatch> {
        let mut found = compare_files(&self.files, &now.files, "");
        found.extend(compare_files(&self.overlay, &now.overlay, OVERLAY));
        let mut differs = |path: &str, what: String| {
            found.push(Mismatch {
                path: path.to_owned(),
                what,
            });
        };
        if self.settings != now.settings {
            differs("loop.json", "has another gate".to_owned());
        }
        if self.program != now.program {
            let name =
                |program: &Option<String>| program.clone().unwrap_or_else(|| "none".to_owned());
            let what = format!("is run instead of {}", name(&self.program));
            differs(&name(&now.program), what);
        } else if self.program_sha256 != now.program_sha256
            && let Some(program) = &now.program
        {
            differs(program, "was changed".to_owned());
        }
        found
    }

    fn digest(&self) -> String {
        let mut digest = Sha256::new();
        let mut line = |words: [&str; 4]| digest.update(words.join(" ") + "\n");
        line(["settings", &self.settings, "", ""]);
        let program = self.program.as_deref().unwrap_or_default();
        let content = self.program_sha256.as_deref().unwrap_or_default();
        line(["program", content, "", program]);
        for (place, files) in [("file", &self.files), ("overlay", &self.overlay)] {
            for (path, entry) in files {
                line([place, kind(entry.kind), &entry.sha256, path]);
            }
        }
        hex(&digest.finalize())
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.path, self.what)
    }
}

/// Adds what frozen links lead to, as far as it lies in the project: who edits
/// that changes the frozen file too.
fn follow(
    folder: &Path,
    stop: &AtomicBool,
    paths: &mut BTreeSet<PathBuf>,
) -> Result<(), GateError> {
    let Ok(real) = folder.canonicalize() else {
        return Ok(());
    };
    let mut left: Vec<_> = paths.iter().cloned().collect();
    while let Some(path) = left.pop() {
        let full = folder.join(&path);
        if !full.is_symlink() {
            continue;
        }
        let target = full.canonicalize().ok();
        let inside = target
            .as_deref()
            .and_then(|target| target.strip_prefix(&real).ok());
        let Some(inside) = inside.filter(|inside| !inside.as_os_str().is_empty()) else {
            continue;
        };
        let walk = Walk {
            root: folder,
            passed_by: &CACHES,
            stop,
        };
        walk.run(inside, |path| {
            if paths.insert(path.to_owned()) {
                left.push(path.to_owned());
            }
        })?;
    }
    Ok(())
}

/// Looks at every path; one behind a link is not there.
fn entries(folder: &Path, paths: &BTreeSet<PathBuf>) -> Result<BTreeMap<String, Entry>, GateError> {
    if paths.len() > MAX_FILES {
        return Err(GateError::TooMuch {
            what: format!(
                "gate.frozen names {} files, and {MAX_FILES} are read",
                paths.len()
            ),
        });
    }
    let look = |path: &PathBuf| {
        let entry = match is_real(folder, path) {
            true => Entry::of(&folder.join(path))?,
            false => Entry::absent(),
        };
        Ok((to_text(path), entry))
    };
    paths.iter().map(look).collect()
}

/// Looks at everything below a folder.
fn below_folder(folder: &Path, stop: &AtomicBool) -> Result<BTreeMap<String, Entry>, GateError> {
    let mut paths = BTreeSet::new();
    let walk = Walk {
        root: folder,
        passed_by: &CACHES,
        stop,
    };
    walk.run(Path::new(""), |path| {
        paths.insert(path.to_owned());
    })?;
    entries(folder, &paths)
}

/// Finds the program as the child will, and reads it when it is in the project.
fn program(request: &Request<'_>) -> Result<(Option<String>, Option<String>), GateError> {
    let argv = request.gate.command.as_slice();
    let nowhere = PathBuf::new();
    let command = Command::new(
        argv.iter().map(Into::into).collect(),
        request.folder.to_owned(),
        request.environment.clone(),
        [nowhere.clone(), nowhere.clone()],
        nowhere,
    );
    let Ok(path) = command.preflight() else {
        return Ok((None, None));
    };
    let Some(inside) = path.to_str().and_then(|path| below(path, request.folder)) else {
        return Ok((Some(to_text(&path)), None));
    };
    // A link of the project's, as package managers make them, is followed, but
    // only to a file in the project.
    let real = path.canonicalize().ok();
    let folder = request.folder.canonicalize().ok();
    let content = real
        .zip(folder)
        .filter(|(real, folder)| real.starts_with(folder));
    let sha256 = match content {
        Some((real, _)) => Some(Entry::of(&real)?.sha256),
        None => None,
    };
    Ok((Some(to_text(&inside)), sha256))
}

/// One value for the settings that decide what is run and what that is taken for.
fn settings(gate: &Gate) -> String {
    let argv = |argv: &[String]| argv.join("\0");
    let frozen: Vec<_> = gate.frozen().iter().map(|path| path.as_str()).collect();
    let parts = [
        argv(gate.command.as_slice()),
        gate.setup
            .as_ref()
            .map(|setup| argv(setup.as_slice()))
            .unwrap_or_default(),
        frozen.join("\0"),
        format!("{:?}", gate.place()),
        gate.overlay
            .as_ref()
            .map(|path| path.as_str().to_owned())
            .unwrap_or_default(),
        gate.report
            .as_ref()
            .map(|path| path.as_str().to_owned())
            .unwrap_or_default(),
        format!("{:?}", gate.min_tests()),
    ];
    sha256_hex(parts.join("\0\0").as_bytes())
}

pub(super) fn compare_files(
    before: &BTreeMap<String, Entry>,
    now: &BTreeMap<String, Entry>,
    place: &str,
) -> Vec<Mismatch> {
    let absent = Entry::absent();
    let paths: BTreeSet<_> = before.keys().chain(now.keys()).collect();
    let differs = |path: &String| {
        let old = before.get(path).unwrap_or(&absent);
        let new = now.get(path).unwrap_or(&absent);
        (!old.same(new)).then(|| Mismatch {
            path: format!("{place}{path}"),
            what: how(old, new).to_owned(),
        })
    };
    paths.into_iter().filter_map(differs).collect()
}

fn how(old: &Entry, new: &Entry) -> &'static str {
    match (old.kind, new.kind) {
        (_, EntryKind::Absent) => "is gone",
        (EntryKind::Absent, _) => "is new",
        (_, EntryKind::Link) if old.kind != EntryKind::Link => "is a link now",
        (_, EntryKind::Folder) => "is a folder now",
        (_, EntryKind::Special) => "is no regular file any more",
        (_, EntryKind::Unread) => "cannot be read any more",
        _ if new.is_empty_file() => "was emptied",
        _ => "was changed",
    }
}

fn kind(kind: EntryKind) -> &'static str {
    match kind {
        EntryKind::File => "file",
        EntryKind::Link => "link",
        EntryKind::Folder => "folder",
        EntryKind::Absent => "absent",
        EntryKind::Unread => "unread",
        EntryKind::Special => "special",
    }
}
