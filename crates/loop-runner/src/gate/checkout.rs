//! A throw-away tree of files in which a gate can be believed.
//!
//! It holds product files, over them the frozen files as they were when they
//! were frozen, and over these the overlay. There is no `.git` in it, and
//! nothing that the repository ignores: what a build left behind stays behind.

use super::entry::{Entry, EntryKind};
use super::fingerprint::{Fingerprint, Mismatch, OVERLAY, compare_files};
use super::frozen::{CACHES, Frozen, Look, MADE};
use super::kept::Kept;
use super::lay::{Copied, Tree};
use super::path_text::{to_path, to_text};
use super::scratch::Scratch;
use super::walk::{Walk, is_real};
use super::{At, GateContext, GateError};
use crate::git::{export_commit, product_files};
use crate::workplace;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The most that is copied into one, in bytes.
const MAX_COPIED: u64 = 8 << 30;

/// A clean checkout. Dropped, it is removed.
#[derive(Debug)]
pub struct Checkout {
    /// The folder of all of it.
    outer: Scratch,
    /// The project's folder in it.
    project: PathBuf,
    /// The frozen files that lie in it, by path below the project.
    laid: BTreeMap<String, Entry>,
    /// The overlay's files that lie in it.
    overlaid: BTreeMap<String, Entry>,
    /// Links of the attempt that would lead out of it, and are left out.
    pub(super) links_out: Vec<String>,
    /// What a person should hear about.
    pub warnings: Vec<String>,
}

impl Checkout {
    /// Makes one of the commit that the attempt began from.
    ///
    /// # Errors
    ///
    /// [`GateError`] when there is no commit, or something cannot be read or
    /// written.
    pub fn of_base(context: &GateContext<'_>) -> Result<Self, GateError> {
        let base = context.base()?;
        let Some(repository) = &context.setup.repository else {
            return Err(GateError::NoBase(
                "a clean checkout needs a git repository".to_owned(),
            ));
        };
        let checkout = Self::empty(context)?;
        export_commit(repository, &base, &checkout.tree(), context.stop)?;
        fs::create_dir_all(&checkout.project).at("make", &checkout.project)?;
        Ok(checkout)
    }

    /// Makes one of what the attempt consists of now: the base commit's files as
    /// they are in the attempt's tree, and its new files that are not ignored.
    ///
    /// # Errors
    ///
    /// [`GateError`] when something cannot be read or written.
    pub fn of_result(context: &GateContext<'_>) -> Result<Self, GateError> {
        let workspace = context.workspace()?;
        let base = context.worktree.map(|worktree| worktree.base.as_str());
        let base = base.or(context.base);
        let Some(files) = product_files(&workspace, base, context.stop)? else {
            return Err(GateError::TooMuch {
                what: format!("{} holds too many files", workspace.root().display()),
            });
        };
        let mut checkout = Self::empty(context)?;
        let root = checkout.tree();
        let tree = Tree { root: &root };
        let mut room = MAX_COPIED;
        let mut links = Vec::new();
        for path in &files {
            context.check_stop()?;
            match tree.copy(workspace.root(), path, room)? {
                Copied::File(bytes) => room = room.saturating_sub(bytes),
                Copied::Link => links.push(path),
                Copied::Nothing => checkout
                    .warnings
                    .push(format!("{} cannot be read and is left out", to_text(path))),
                Copied::TooLong => {
                    return Err(GateError::TooMuch {
                        what: format!("{} holds more than 8 GiB", workspace.root().display()),
                    });
                }
            }
        }
        checkout.links_out = tree.remove_links_out(&links)?;
        fs::create_dir_all(&checkout.project).at("make", &checkout.project)?;
        Ok(checkout)
    }

    fn empty(context: &GateContext<'_>) -> Result<Self, GateError> {
        let setup = context.setup;
        let outer = Scratch::make(setup, &["tree", "tmp"])?;
        let below = workplace::project_folder(setup, None);
        let top = setup.repository.as_ref().and_then(|r| r.place_of(&below));
        let tree = outer.at("tree");
        let project = tree
            .components()
            .chain(top.iter().flat_map(|top| top.components()));
        Ok(Self {
            project: project.collect(),
            outer,
            laid: BTreeMap::new(),
            overlaid: BTreeMap::new(),
            links_out: Vec::new(),
            warnings: Vec::new(),
        })
    }

    fn tree(&self) -> PathBuf {
        self.outer.at("tree")
    }

    /// Returns the project's folder.
    #[must_use]
    pub fn project(&self) -> &Path {
        &self.project
    }

    /// Returns the folder for temporary files.
    #[must_use]
    pub fn temporary(&self) -> PathBuf {
        self.outer.at("tmp")
    }

    /// Lays the frozen files over the product's, as they were, and removes what
    /// a frozen pattern covers and was not there.
    ///
    /// # Errors
    ///
    /// [`GateError::NotKept`] when a content is gone; [`GateError`] when
    /// something cannot be read or written.
    pub fn lay(
        &mut self,
        context: &GateContext<'_>,
        frozen: &Fingerprint,
    ) -> Result<(), GateError> {
        self.lay_over(context, frozen, &[])
    }

    /// Lays them again after `gate.setup`. What that installed in folders that
    /// tools make stays, also where a frozen pattern covers it.
    ///
    /// # Errors
    ///
    /// As for [`Checkout::lay`].
    pub(super) fn lay_again(
        &mut self,
        context: &GateContext<'_>,
        frozen: &Fingerprint,
    ) -> Result<(), GateError> {
        self.lay_over(context, frozen, &MADE)
    }

    fn lay_over(
        &mut self,
        context: &GateContext<'_>,
        frozen: &Fingerprint,
        passed_by: &[&str],
    ) -> Result<(), GateError> {
        let kept = Kept::of(context.setup);
        let root = self.project.clone();
        let tree = Tree { root: &root };
        for path in self.foreign(context, frozen, passed_by)? {
            tree.remove(&path)?;
        }
        for (name, entry) in frozen.files() {
            let path = to_path(name);
            let content = || {
                let content = kept.content(&entry.sha256);
                content.ok_or_else(|| GateError::not_kept(name))
            };
            match entry.kind {
                EntryKind::File => {
                    let mode = if entry.executable { 0o755 } else { 0o644 };
                    tree.file(&path, &mut &content()?[..], mode)?;
                }
                EntryKind::Link => {
                    let target = content()?;
                    tree.link(&path, Path::new(OsStr::from_bytes(&target)))?;
                }
                EntryKind::Absent => tree.remove(&path)?,
                // What was no file when it was frozen cannot be laid.
                EntryKind::Folder | EntryKind::Unread | EntryKind::Special => {
                    return Err(GateError::not_kept(name));
                }
            }
            self.laid.insert(name.clone(), entry.clone());
        }
        Ok(())
    }

    /// Lists the files that a frozen pattern covers and that were not there when
    /// it was frozen.
    fn foreign(
        &self,
        context: &GateContext<'_>,
        frozen: &Fingerprint,
        passed_by: &[&str],
    ) -> Result<Vec<PathBuf>, GateError> {
        let look = Look {
            root: &self.project,
            passed_by,
            stop: context.stop,
        };
        let mut covered = BTreeSet::new();
        for pattern in context.gate.frozen() {
            Frozen::parse(pattern.as_str())?.collect(&look, &mut covered)?;
        }
        covered.retain(|path| !frozen.files().contains_key(&to_text(path)));
        Ok(covered.into_iter().collect())
    }

    /// Lays the overlay's files over everything else. They have to be what they
    /// were when the gate was frozen.
    ///
    /// # Errors
    ///
    /// [`GateError::Tampered`] when they are not; [`GateError`] when something
    /// cannot be read or written.
    pub fn lay_overlay(
        &mut self,
        context: &GateContext<'_>,
        frozen: &Fingerprint,
    ) -> Result<(), GateError> {
        let Some(overlay) = context.overlay()? else {
            return Ok(());
        };
        let root = self.project.clone();
        let tree = Tree { root: &root };
        let mut paths = Vec::new();
        let walk = Walk {
            root: &overlay,
            passed_by: &CACHES,
            stop: context.stop,
        };
        walk.run(Path::new(""), |path| paths.push(path.to_owned()))?;
        let mut laid = BTreeMap::new();
        for path in paths {
            tree.copy(&overlay, &path, MAX_COPIED)?;
            laid.insert(to_text(&path), Entry::of(&root.join(&path))?);
        }
        // What was copied is compared, not what was there a moment before.
        let changed = compare_files(frozen.overlay(), &laid, OVERLAY);
        if !changed.is_empty() {
            return Err(GateError::Tampered(changed));
        }
        // A frozen file under the overlay is not what judges any more.
        self.laid.retain(|name, _| !laid.contains_key(name));
        self.overlaid = laid;
        Ok(())
    }

    /// Returns the paths of the files in it that judge the work.
    pub(super) fn judges(&self) -> BTreeSet<PathBuf> {
        let names = self.laid.keys().chain(self.overlaid.keys());
        names.map(|name| to_path(name)).collect()
    }

    /// Lists what judges and is not as it was laid: something changed it while
    /// the gate ran.
    ///
    /// An overlay that is gone as a whole is none: a gate that has read its
    /// values takes the files away before the product could look them up.
    ///
    /// # Errors
    ///
    /// [`GateError`] when something cannot be read.
    pub fn changed(&self, context: &GateContext<'_>) -> Result<Vec<Mismatch>, GateError> {
        let mut changed = compare_files(&self.laid, &self.now(context, &self.laid)?, "");
        let overlay = self.now(context, &self.overlaid)?;
        if overlay
            .values()
            .any(|entry| entry.kind != EntryKind::Absent)
        {
            changed.extend(compare_files(&self.overlaid, &overlay, OVERLAY));
        }
        Ok(changed)
    }

    fn now(
        &self,
        context: &GateContext<'_>,
        laid: &BTreeMap<String, Entry>,
    ) -> Result<BTreeMap<String, Entry>, GateError> {
        let mut now = BTreeMap::new();
        for name in laid.keys() {
            context.check_stop()?;
            let path = to_path(name);
            let entry = match is_real(&self.project, &path) {
                true => Entry::of(&self.project.join(&path))?,
                false => Entry::absent(),
            };
            now.insert(name.clone(), entry);
        }
        Ok(now)
    }
}
