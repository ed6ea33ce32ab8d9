//! Ticking the box of a finished item, and no other.

use super::list::{List, Mine};
use super::markdown::Mark;
use super::text;
use crate::item::Item;
use crate::project::{Project, Written};
use crate::source::{Finish, SourceError};

/// Attempts at ticking a box in a file that someone else keeps changing.
const ATTEMPTS: u32 = 3;

/// Ticks the box of `item` in `file`, if it still says `content`.
pub(super) fn tick(
    file: &str,
    item: &Item,
    content: &str,
    project: &mut dyn Project,
) -> Result<Finish, SourceError> {
    for _ in 0..ATTEMPTS {
        let Some(bytes) = project.read(file)? else {
            return Ok(conflict(file, item, "the file is gone"));
        };
        let was = text(file, bytes)?;
        let at = match place(&List::new(file, &was), &item.id, content) {
            Ok(Some(at)) => at,
            Ok(None) => return Ok(Finish::Before),
            Err(what) => return Ok(conflict(file, item, what)),
        };
        let mut new = was.clone();
        new.replace_range(at..=at, "x");
        if project.replace(file, was.as_bytes(), new.as_bytes())? == Written::Now {
            return Ok(Finish::Done);
        }
    }
    Ok(conflict(file, item, "someone else keeps changing the file"))
}

/// Returns where the blank in an item's box is; `None` when it is ticked.
fn place(list: &List<'_>, id: &str, content: &str) -> Result<Option<usize>, &'static str> {
    let i = find(list, id, content)?;
    match (list.entry(i).mark, list.standing(i)) {
        (Mark::Done, _) => Ok(None),
        (Mark::Open, Mine::Open) => Ok(Some(list.entry(i).at)),
        (Mark::Parked(_), _) | (_, Mine::Parked(_)) => Err("its item was put aside"),
        (Mark::Open, Mine::Done | Mine::Waiting(_)) => Err("its item has items of its own now"),
    }
}

/// Finds an item again after its work: by id, else, if it was moved, by content.
/// One that says something else now is not the one that was worked on.
fn find(list: &List<'_>, id: &str, content: &str) -> Result<usize, &'static str> {
    if let Some(i) = list.all().find(|i| list.id(*i) == id) {
        if list.content(i) == content {
            return Ok(i);
        }
        return Err("its item says something else than when it was taken");
    }
    let mut same = list.all().filter(|i| list.content(*i) == content);
    match (same.next(), same.next()) {
        (Some(i), None) => Ok(i),
        (Some(_), Some(_)) => Err("several items say what its item said"),
        (None, _) => Err("its item is gone or says something else"),
    }
}

fn conflict(file: &str, item: &Item, what: &str) -> Finish {
    let title = &item.title;
    Finish::Conflict {
        what: format!("{file}: the box of \"{title}\" was not ticked: {what}"),
    }
}
