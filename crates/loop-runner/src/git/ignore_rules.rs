//! The rules of what is ignored, as they were at one moment.
//!
//! An agent can add `*` to a `.gitignore`, which ignores that file itself if it is new, or to
//! `.git/info/exclude`, and whatever it adds afterwards is not listed. What it did is therefore
//! looked for under the rules that stood before it began.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
};

use gix::{
    ObjectId,
    bstr::{BStr, BString, ByteSlice},
    dir::{
        EntryRef, entry,
        walk::{self, EmissionMode},
    },
    glob::pattern::Case,
    sec::Permission,
    worktree::{
        Stack,
        stack::{State, state},
    },
};

use super::{
    fault::GitFault,
    hash_file::blob_id,
    listing::{Listing, index_of},
    plain_file::{self, is_absent},
    rules::{self, Guarded, MAX_RULES},
    snapshot::SnapshotError,
    workspace::{Workspace, to_path},
};

/// The name of the files that rules stand in.
pub(super) const GITIGNORE: &[u8] = b".gitignore";

/// The rules of what is ignored in a workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct IgnoreRules {
    /// The user's own file and the repository's `info/exclude`, the weaker first.
    pub(super) shared: Vec<Vec<u8>>,
    /// Every `.gitignore`, by its path below the workspace's top.
    pub(super) files: BTreeMap<BString, Vec<u8>>,
}

impl IgnoreRules {
    /// Reads the rules as they are now.
    pub(super) fn take(workspace: &Workspace, stop: &AtomicBool) -> Result<Self, SnapshotError> {
        let Some(git) = &workspace.git else {
            return Ok(Self::default());
        };
        let git = git.to_thread_local();
        let index = index_of(&git);
        Self::take_with_untracked(&git, &index, &workspace.root, stop).map(|(rules, _)| rules)
    }

    /// The same for the checkout at `root`; returns also the files that are neither tracked nor
    /// ignored, which the same walk finds.
    pub(super) fn take_with_untracked(
        git: &gix::Repository,
        index: &gix::index::State,
        root: &Path,
        stop: &AtomicBool,
    ) -> Result<(Self, Listing), SnapshotError> {
        let mut rules = Self::default();
        for path in shared_files(git)? {
            rules.shared.push(read_shared(&path)?);
        }
        let (paths, untracked) = gitignores(git, index, root, stop)?;
        for path in paths {
            let full = root.join(to_path(path.as_ref()));
            match plain_file::read(&full, MAX_RULES) {
                Ok(Some(content)) => drop(rules.files.insert(path, content)),
                Ok(None) => {}
                Err(error) if is_absent(&error) => {}
                Err(source) => return Err(SnapshotError::Read { path: full, source }),
            }
        }
        Ok((rules, untracked))
    }

    /// Tells whether these are the rules that hold now, for a workspace with these paths.
    pub(super) fn still_hold<'a>(
        &'a self,
        git: &gix::Repository,
        workspace: &Workspace,
        paths: impl Iterator<Item = &'a BString>,
    ) -> bool {
        let Ok(shared) = shared_files(git) else {
            return false;
        };
        let shared: Result<Vec<_>, _> = shared.iter().map(|path| read_shared(path)).collect();
        let same = |path: &BString| {
            let full = workspace.root.join(to_path(path.as_ref()));
            let now = plain_file::read(&full, MAX_RULES).ok().flatten();
            now.as_ref() == self.files.get(path)
        };
        let found = paths.filter(|path| is_gitignore(path.as_ref()));
        shared.is_ok_and(|shared| shared == self.shared) && found.chain(self.files.keys()).all(same)
    }

    /// Walks through a workspace and reports what is not tracked, under these rules alone.
    pub(super) fn walk(
        &self,
        git: &gix::Repository,
        index: &gix::index::State,
        root: &Path,
        stop: &AtomicBool,
        delegate: &mut dyn walk::Delegate,
    ) -> Result<(), GitFault> {
        let fs = git.filesystem_options()?;
        let options = git.dirwalk_options()?;
        let case = if fs.ignore_case {
            Case::Fold
        } else {
            Case::Sensitive
        };
        let texts = Texts::of(&self.files)?;
        let mut excludes = self.stack(root, case, &texts)?;
        let lookup = fs.ignore_case.then(|| index.prepare_icase_backing());
        let (mut everything, _) = git
            .pathspec(
                false,
                None::<&str>,
                true,
                index,
                state::attributes::Source::IdMapping,
            )?
            .into_parts();
        let git_dir = git.git_dir().canonicalize()?;
        gix::dir::walk(
            root,
            walk::Context {
                should_interrupt: Some(stop),
                git_dir_realpath: &git_dir,
                current_dir: root,
                index,
                ignore_case_index_lookup: lookup.as_ref(),
                pathspec: &mut everything,
                pathspec_attributes: &mut |_, _, _, _| false,
                excludes: Some(&mut excludes),
                objects: &texts,
                explicit_traversal_root: Some(root),
            },
            options.into(),
            delegate,
        )?;
        Ok(())
    }

    fn stack(&self, root: &Path, case: Case, texts: &Texts<'_>) -> Result<Stack, GitFault> {
        let parse = gix::ignore::search::Ignore::default();
        let mut shared = gix::ignore::Search::default();
        for content in &self.shared {
            shared.add_patterns_buffer(content, PathBuf::new(), None, parse)?;
        }
        let rules = state::Ignore::new(
            gix::ignore::Search::default(),
            shared,
            None,
            state::ignore::Source::IdMapping,
            parse,
        );
        let state = State::IgnoreStack(rules);
        Ok(Stack::new(root, state, case, Vec::new(), texts.by_path()))
    }
}

/// Contents in the shape of a repository's objects, which is how the git library takes rules.
struct Texts<'a> {
    by_id: BTreeMap<ObjectId, &'a [u8]>,
    ids: Vec<(BString, ObjectId)>,
}

impl<'a> Texts<'a> {
    fn of(files: &'a BTreeMap<BString, Vec<u8>>) -> Result<Self, GitFault> {
        let mut texts = Self {
            by_id: BTreeMap::new(),
            ids: Vec::new(),
        };
        for (path, content) in files {
            let id = blob_id(content)?;
            texts.by_id.insert(id, content);
            texts.ids.push((path.clone(), id));
        }
        Ok(texts)
    }

    /// The contents' ids, sorted by path.
    fn by_path(&self) -> Vec<(BString, ObjectId)> {
        self.ids.clone()
    }
}

impl gix::objs::Find for Texts<'_> {
    fn try_find<'b>(
        &self,
        id: &gix::oid,
        buffer: &'b mut Vec<u8>,
    ) -> gix::Result<Option<gix::objs::Data<'b>>> {
        let Some(content) = self.by_id.get(id) else {
            return Ok(None);
        };
        buffer.clear();
        buffer.extend_from_slice(content);
        Ok(Some(gix::objs::Data {
            kind: gix::objs::Kind::Blob,
            object_hash: gix::hash::Kind::Sha1,
            data: buffer,
        }))
    }
}

/// The files with rules for the whole repository, the weaker first.
pub(super) fn shared_files(git: &gix::Repository) -> Result<Vec<PathBuf>, GitFault> {
    let configured = git.config_snapshot().trusted_path("core.excludesFile")?;
    let users = configured.or_else(|| users_rules(git));
    let exclude = git.common_dir().join("info").join("exclude");
    Ok(users.into_iter().chain([exclude]).collect())
}

/// Where git looks when the configuration names no file.
fn users_rules(git: &gix::Repository) -> Option<PathBuf> {
    let allowed = git.open_options().permissions.env;
    let mut variable = |name: &str| {
        let permission = match name {
            "HOME" => allowed.home,
            _ => allowed.xdg_config_home,
        };
        std::env::var_os(name).filter(|_| permission == Permission::Allow)
    };
    gix::path::env::xdg_config("ignore", &mut variable)
}

/// Reads a file that a person may have replaced by a link.
fn read_shared(path: &Path) -> Result<Vec<u8>, SnapshotError> {
    let read = || match path.canonicalize() {
        Ok(real) => plain_file::read(&real, MAX_RULES)?
            .ok_or_else(|| io::Error::other("not a plain file of a usual length")),
        Err(error) if is_absent(&error) => Ok(Vec::new()),
        Err(error) => Err(error),
    };
    read().map_err(|source| SnapshotError::Read {
        path: path.to_owned(),
        source,
    })
}

/// Checks that the git library can read the rules of the whole repository.
pub(super) fn check_shared(git: &gix::Repository) -> Result<(), SnapshotError> {
    for path in shared_files(git)? {
        // A link is followed there, so look at where it leads.
        let real = fs::canonicalize(&path).unwrap_or(path);
        plain_file::check(&real, MAX_RULES)
            .map_err(|source| SnapshotError::Read { path: real, source })?;
    }
    Ok(())
}

/// Lists every `.gitignore` that has a say: tracked, new, or ignored by its own rules. Those in a
/// folder that is ignored as a whole have none. Lists the files that are not ignored beside.
fn gitignores(
    git: &gix::Repository,
    index: &gix::index::State,
    root: &Path,
    stop: &AtomicBool,
) -> Result<(Vec<BString>, Listing), SnapshotError> {
    let tracked = index.entries().iter().map(|entry| entry.path(index));
    let collect = Collect {
        gitignores: tracked
            .filter(|path| is_gitignore(path))
            .map(ToOwned::to_owned)
            .collect(),
        untracked: Listing::new(),
    };
    rules::check_down_to(root, Path::new(""))?;
    check_shared(git)?;
    let options = git
        .dirwalk_options()
        .map_err(GitFault::from)?
        .emit_ignored(Some(EmissionMode::Matching));
    let mut collect = Guarded::new(root, collect);
    let walked = git.dirwalk(index, None::<&str>, stop, options, &mut collect);
    if stop.load(Ordering::Relaxed) {
        return Err(SnapshotError::Interrupted);
    }
    let collected = collect.finish()?;
    walked.map_err(GitFault::from)?;
    Ok((collected.gitignores, collected.untracked))
}

/// Tells whether a path names a file with rules.
pub(super) fn is_gitignore(path: &BStr) -> bool {
    path.strip_suffix(GITIGNORE)
        .is_some_and(|folder| folder.is_empty() || folder.ends_with(b"/"))
}

struct Collect {
    gitignores: Vec<BString>,
    untracked: Listing,
}

impl walk::Delegate for Collect {
    fn emit(&mut self, entry: EntryRef<'_>, _: Option<entry::Status>) -> walk::Action {
        let is_rules = is_gitignore(entry.rela_path.as_bstr());
        let is_untracked = entry.status == entry::Status::Untracked;
        let path = entry.rela_path.into_owned();
        if is_rules {
            self.gitignores.push(path.clone());
        }
        if is_untracked {
            self.untracked.insert(path);
        }
        std::ops::ControlFlow::Continue(())
    }
}
