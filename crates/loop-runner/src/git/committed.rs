//! The state that a commit describes, and how files on disk compare with it.

use std::{collections::BTreeMap, fs, path::Path};

use gix::{
    ObjectId,
    bstr::{BStr, BString, ByteSlice},
    index::{State, entry::Mode},
    objs::{CommitRef, Find},
    validate::path::component::Options,
    worktree::{Stack, stack::state::attributes::Source},
};

use super::{
    fault::GitFault,
    hash_file::blob_id,
    plain_file,
    snapshot::{Entry, EntryKind},
    workspace::to_path,
};

/// The longest file that is converted, in bytes; conversion keeps it in memory twice.
const MAX_CONVERTED: u64 = 64 << 20;

/// What every path of a commit holds, in the same terms as a snapshot.
///
/// The entry of a nested repository has the id of its commit.
pub(super) type Committed = BTreeMap<BString, Entry>;

/// Reads the tree of a commit.
pub(super) fn entries_of(git: &gix::Repository, commit: ObjectId) -> Result<Committed, GitFault> {
    let objects = Verified(git);
    let mut buffer = Vec::new();
    let found = objects.try_find(&commit, &mut buffer)?;
    let found = found.ok_or_else(|| GitFault::new(format!("there is no commit {commit}")))?;
    let tree = CommitRef::from_bytes(found.data, git.object_hash())?.tree();
    // Names are only compared here, so any that git has is good.
    let any_name = Options {
        protect_windows: false,
        protect_hfs: false,
        protect_ntfs: false,
    };
    let index = State::from_tree(&tree, &objects, any_name)?;
    let entry_of = |entry: &gix::index::Entry| {
        let kind = match entry.mode {
            Mode::FILE_EXECUTABLE => EntryKind::Executable,
            Mode::SYMLINK => EntryKind::Link,
            Mode::COMMIT => EntryKind::Repository,
            _ => EntryKind::File,
        };
        (entry.path(&index).to_owned(), Entry { kind, id: entry.id })
    };
    Ok(index.entries().iter().map(entry_of).collect())
}

/// The objects of a repository, each checked against its name as it is read.
///
/// A loose object is a file of the user's that an agent can overwrite. Read
/// unchecked, the base of a comparison could be made to hold what it was compared
/// with.
struct Verified<'a>(&'a gix::Repository);

impl Find for Verified<'_> {
    fn try_find<'a>(
        &self,
        id: &gix::oid,
        buffer: &'a mut Vec<u8>,
    ) -> gix::error::Result<Option<gix::objs::Data<'a>>> {
        let found = self.0.objects.try_find(id, buffer)?;
        if let Some(data) = &found {
            data.verify_checksum(id)?;
        }
        Ok(found)
    }
}

/// Converts files as `git add` would, without running any program.
///
/// Line endings, encodings and keywords follow the attributes *of the base commit*, so that an
/// edited `.gitattributes` cannot make an edit look like none.
pub(super) struct ToGit<'a> {
    git: &'a gix::Repository,
    pipeline: gix::filter::plumbing::Pipeline,
    attributes: Stack,
    base: State,
}

impl<'a> ToGit<'a> {
    pub(super) fn new(git: &'a gix::Repository, base: ObjectId) -> Result<Self, GitFault> {
        let tree = git.find_commit(base)?.tree_id()?;
        let base: State = git.index_from_tree(&tree)?.into();
        let attributes = git.attributes_only(&base, Source::IdMapping)?.detach();
        let mut options = gix::filter::Pipeline::options(git)?;
        options.drivers.clear();
        options.crlf_roundtrip_check = gix::filter::plumbing::pipeline::CrlfRoundTripCheck::Skip;
        let pipeline = gix::filter::plumbing::Pipeline::new(
            gix::command::Context::default(),
            git.object_hash(),
            options,
        );
        Ok(Self {
            git,
            pipeline,
            attributes,
            base,
        })
    }

    /// Converts the content of the file `path`.
    pub(super) fn convert(&mut self, path: &BStr, content: &[u8]) -> Result<Vec<u8>, GitFault> {
        let platform = self
            .attributes
            .at_path(to_path(path), None, &self.git.objects)
            .map_err(GitFault::from)?;
        let (git, base) = (self.git, &self.base);
        let mut outcome = self.pipeline.convert_to_git(
            content,
            to_path(path),
            &mut |_, attributes| {
                platform.matching_attributes(attributes);
            },
            &mut |buffer| {
                let Some(entry) = base.entry_by_path(path) else {
                    return Ok(None);
                };
                let blob = git.find_blob(entry.id)?;
                buffer.clear();
                buffer.extend_from_slice(&blob.data);
                Ok(Some(()))
            },
        )?;
        let mut converted = Vec::new();
        std::io::Read::read_to_end(&mut outcome, &mut converted)?;
        Ok(converted)
    }

    /// Tells whether `git add` would store the file at `full` as the blob `id`.
    ///
    /// A file of more than 64 MiB is not converted, and so never is.
    pub(super) fn is_stored_as(&mut self, full: &Path, path: &BStr, id: ObjectId) -> bool {
        let Ok(Some(content)) = plain_file::read(full, MAX_CONVERTED) else {
            return false;
        };
        self.convert(path, &content)
            .and_then(|converted| blob_id(&converted))
            .is_ok_and(|converted| converted == id)
    }
}

/// Tells whether the folder of a nested repository is as git leaves it when it is not fetched.
pub(super) fn is_unpopulated(full: &Path) -> bool {
    fs::read_dir(full).is_ok_and(|mut entries| entries.next().is_none())
}

/// Tells whether a nested repository stands on `commit`.
///
/// It is opened without any configuration but its own, and only its HEAD is read. Edits in it that
/// it has not committed are not seen.
pub(super) fn stands_on(full: &Path, commit: ObjectId) -> bool {
    gix::open_opts(full, gix::open::Options::isolated())
        .ok()
        .filter(|nested| nested.workdir() == Some(full))
        .and_then(|nested| nested.head_id().ok().map(gix::Id::detach))
        == Some(commit)
}

/// Tells whether content is shown as binary, by git's rule.
pub(super) fn is_binary(content: &[u8]) -> bool {
    content[..content.len().min(8000)].find_byte(0).is_some()
}
