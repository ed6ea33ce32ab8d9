//! The project, its repository, and where worktrees go.

use super::Finding;
use super::room::writable;
use crate::causes::with_causes;
use crate::git::{Configuration, Repository};
use crate::setup::Surroundings;
use crate::worktrees::{self, Standing};
use std::sync::atomic::AtomicBool;

pub(super) fn checks(around: &Surroundings) -> Vec<Finding> {
    let mut found = vec![
        writable("data", "the project's data", around.project.data()),
        writable(
            "worktrees",
            "the place of worktrees",
            &around.home.worktrees(),
        ),
    ];
    found.push(repository(around));
    found.extend(orphans(around));
    found
}

fn repository(around: &Surroundings) -> Finding {
    let root = around.project.root().display();
    let repository = match Repository::discover(around.project.root(), Configuration::User) {
        Ok(Some(repository)) => repository,
        Ok(None) => {
            return Finding::warning(
                "repository",
                format!(
                    "{root} is in no git repository: there are no worktrees, and what a loop \
                     changes cannot be undone"
                ),
                format!("git init {root}, and commit something"),
            );
        }
        Err(error) => {
            return Finding::problem(
                "repository",
                with_causes(&error),
                "mend the repository; git fsck may tell more",
            );
        }
    };
    let Some(top) = repository.top_level() else {
        return Finding::problem(
            "repository",
            format!("the repository of {root} is bare: it has no files to work on"),
            "use a checkout of it: git worktree add FOLDER, or git clone",
        );
    };
    match repository.head() {
        Ok(head) if head.commit.is_some() => {
            Finding::ok("repository", format!("{}", top.display()))
        }
        Ok(_) => Finding::warning(
            "repository",
            format!(
                "{} has no commit, so no worktree can be made",
                top.display()
            ),
            format!("git -C {} commit --allow-empty -m Start", top.display()),
        ),
        Err(fault) => Finding::problem(
            "repository",
            format!("HEAD cannot be read: {fault}"),
            "mend the repository; git fsck may tell more",
        ),
    }
}

/// Worktrees that nobody knows any more take room, and may hold work.
fn orphans(around: &Surroundings) -> Option<Finding> {
    let listed = match worktrees::list(around, &AtomicBool::new(false)) {
        Ok(listed) => listed,
        Err(error) => {
            return Some(Finding::warning(
                "worktrees",
                format!("they cannot be listed: {}", with_causes(&error)),
                "look at the folder: loop worktree list",
            ));
        }
    };
    let is_orphan = |tree: &&worktrees::LoopWorktree| tree.standing == Standing::Orphan;
    let orphans: Vec<_> = listed.iter().filter(is_orphan).collect();
    let first = orphans.first()?;
    Some(Finding::warning(
        "worktrees",
        format!(
            "{} of a loop that is gone, or knows nothing of it: {}",
            loop_core::text::counted(orphans.len() as u64, "worktree"),
            first.path.display()
        ),
        "see what is in them: loop worktree list; remove them: loop worktree prune --yes",
    ))
}
