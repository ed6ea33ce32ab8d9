//! `loop worktree`: the worktrees of the project's loops, and the end of those that nobody needs.

use crate::args::WorktreeCommand;
use crate::context::Context;
use crate::failure::Failure;
use crate::show;
use loop_core::exit;
use loop_core::time::Timestamp;
use loop_runner::causes::with_causes;
use loop_runner::worktrees::{self, LoopWorktree, Salvaged, Standing, Work};
use serde_json::{Value, json};
use std::sync::atomic::AtomicBool;

/// What became of a worktree, or would.
enum Fate {
    /// It would go.
    Removable,
    /// It is gone; what it held alone is here.
    Removed(Option<Salvaged>),
    /// It stays, for this reason.
    Kept(String),
}

/// Runs one of the commands about worktrees.
pub(crate) fn run(context: &Context, command: &WorktreeCommand) -> Result<u8, Failure> {
    match command {
        WorktreeCommand::List(args) => list(context, args.json),
        WorktreeCommand::Prune { yes, json } => prune(context, *yes, *json),
    }
}

fn found(context: &Context) -> Result<Vec<LoopWorktree>, Failure> {
    worktrees::list(&context.around, &AtomicBool::new(false)).map_err(|error| Failure::of(&error))
}

fn list(context: &Context, as_json: bool) -> Result<u8, Failure> {
    let found = found(context)?;
    if as_json {
        let rows: Vec<_> = found.iter().map(json_row).collect();
        show::json(&json!({"v": 1, "worktrees": rows}))?;
        return Ok(exit::DONE);
    }
    if found.is_empty() {
        show::line("no worktrees");
    }
    let now = context.around.clock.now();
    for worktree in &found {
        show::line(show::one_line(&text_row(worktree, now)));
    }
    Ok(exit::DONE)
}

fn prune(context: &Context, yes: bool, as_json: bool) -> Result<u8, Failure> {
    if yes {
        context.person_only("remove worktrees")?;
    }
    let mut rows = Vec::new();
    let mut code = exit::DONE;
    let mut any_would_go = false;
    let found = found(context)?;
    let is_empty = found.is_empty();
    for worktree in found {
        let fate = fate(context, &worktree, yes);
        any_would_go |= matches!(fate, Fate::Removable);
        // What nobody needs and still could not be removed is a failure; the rest is no matter.
        let is_wanted = matches!(
            worktree.standing,
            Standing::InUse | Standing::Parked | Standing::Unknown
        );
        if yes && !is_wanted && matches!(fate, Fate::Kept(_)) {
            code = exit::FAILED;
        }
        if as_json {
            rows.push(json_fate(&worktree, &fate));
        } else {
            tell(context, &worktree, &fate);
        }
    }
    if as_json {
        show::json(&json!({"v": 1, "worktrees": rows}))?;
    } else if !yes {
        show::line(if any_would_go {
            "nothing was removed; loop worktree prune --yes does it"
        } else {
            "there is nothing to remove"
        });
    } else if is_empty {
        show::line("no worktrees");
    }
    Ok(code)
}

fn fate(context: &Context, worktree: &LoopWorktree, yes: bool) -> Fate {
    let done = match worktree.may_go() {
        Ok(()) if !yes => match &worktree.work {
            Work::Unknown(why) => return Fate::Kept(why.clone()),
            Work::Saved | Work::Unsaved(_) => return Fate::Removable,
        },
        Ok(()) => worktree.prune(&context.around, &AtomicBool::new(false)),
        Err(kept) => Err(kept),
    };
    match done {
        Ok(salvaged) => Fate::Removed(salvaged),
        Err(kept) => Fate::Kept(with_causes(&kept)),
    }
}

fn tell(context: &Context, worktree: &LoopWorktree, fate: &Fate) {
    let path = worktree.path.display();
    match fate {
        Fate::Removable => {
            let row = text_row(worktree, context.around.clock.now());
            show::line(show::one_line(&format!("would remove  {row}")));
        }
        Fate::Removed(salvaged) => {
            show::line(show::one_line(&format!("removed  {path}")));
            if let Some(salvaged) = salvaged {
                for saved in [Some(&salvaged.patch), salvaged.files.as_ref()] {
                    let saved = saved.map(|saved| format!("  saved  {}", saved.display()));
                    saved.into_iter().for_each(show::line);
                }
            }
        }
        Fate::Kept(why) => show::line(show::one_line(&format!("kept  {path}: {why}"))),
    }
}

fn text_row(worktree: &LoopWorktree, now: Timestamp) -> String {
    let age = worktree.changed_at.map_or_else(
        || "unknown age".to_owned(),
        |at| {
            format!(
                "{} old",
                age(now.unix_millis().saturating_sub(at.unix_millis()))
            )
        },
    );
    let work = match &worktree.work {
        Work::Saved => "nothing unsaved".to_owned(),
        Work::Unsaved(files) => format!("unsaved work in {}", show::count(*files as u64, "file")),
        Work::Unknown(why) => why.clone(),
    };
    format!(
        "{}/{}  {}  {}  {age}  {work}  {}  on {}",
        worktree.loop_name,
        worktree.task,
        standing(worktree.standing),
        size(worktree.bytes),
        worktree.path.display(),
        worktree.branch.as_deref().unwrap_or("no branch"),
    )
}

fn json_row(worktree: &LoopWorktree) -> Value {
    let (unsaved, why) = match &worktree.work {
        Work::Saved => (json!(0), Value::Null),
        Work::Unsaved(files) => (json!(files), Value::Null),
        Work::Unknown(why) => (Value::Null, json!(why)),
    };
    json!({
        "loop": worktree.loop_name,
        "task": worktree.task,
        "path": worktree.path.to_string_lossy(),
        "branch": worktree.branch,
        "bytes": worktree.bytes,
        "changed_at": worktree.changed_at,
        "state": worktree.standing,
        "unsaved": unsaved,
        "why": why,
    })
}

fn json_fate(worktree: &LoopWorktree, fate: &Fate) -> Value {
    let mut row = json_row(worktree);
    let (action, saved) = match fate {
        Fate::Removable => ("would_remove", None),
        Fate::Removed(salvaged) => ("removed", salvaged.as_ref()),
        Fate::Kept(why) => {
            row["why"] = json!(why);
            ("kept", None)
        }
    };
    row["action"] = json!(action);
    row["patch"] = json!(saved.map(|saved| saved.patch.to_string_lossy()));
    let files = saved.and_then(|saved| saved.files.as_ref());
    row["files"] = json!(files.map(|files| files.to_string_lossy()));
    row
}

fn standing(standing: Standing) -> &'static str {
    match standing {
        Standing::InUse => "in use",
        Standing::Parked => "put aside",
        Standing::Finished => "finished",
        Standing::Orphan => "orphan",
        Standing::Unknown => "unknown",
    }
}

/// Writes a number of bytes as people read it.
fn size(bytes: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = bytes;
    let mut unit = 0;
    while value >= 10 * 1024 && unit + 1 < units.len() {
        value /= 1024;
        unit += 1;
    }
    format!("{value} {}", units[unit])
}

/// Writes a span of time as people say it, given in milliseconds.
fn age(millis: i64) -> String {
    let minutes = millis.max(0) / 60_000;
    match minutes {
        ..120 => format!("{minutes}min"),
        120..2880 => format!("{}h", minutes / 60),
        _ => format!("{}d", minutes / 1440),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // cases: 97
    #[test]
    fn sizes_and_ages_are_short() {
        for (bytes, text) in [
            (0, "0 B"),
            (10_239, "10239 B"),
            (10_240, "10 KiB"),
            (200 << 20, "200 MiB"),
            (u64::MAX, "16777215 TiB"),
        ] {
            assert_eq!(size(bytes), text);
        }
        for (minutes, text) in [(-1, "0min"), (119, "119min"), (120, "2h"), (2880, "2d")] {
            assert_eq!(age(minutes * 60_000), text);
        }
    }
}
