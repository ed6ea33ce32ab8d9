//! The open boxes of a project's `design/<area>/BACKLOG.md`.
//!
//! The topmost open item that has no items with boxes below it is next. A parent
//! is never worked on itself: it is done when its children are. A person's `[~]`,
//! `[!]` or `[-]` puts an item aside with all below it. Boxes in code, comments
//! and block quotes are none. Without a `section` the whole file counts.

mod list;
mod markdown;

use crate::item::{Completion, Item};
use crate::kinds::SourceOptions;
use crate::pick;
use crate::project::{Level, Project, Written};
use crate::source::{Finish, LoopView, Next, SourceError, Standing, Surveyed, WorkSource};
use list::{List, Mine};
use loop_core::outcome::Skip;
use loop_core::task::{Origin, OriginKind};
use markdown::Mark;
use std::collections::BTreeSet;
use std::path::{Component, Path};

/// Attempts at ticking a box in a file that someone else keeps changing.
const ATTEMPTS: u32 = 3;

/// The open boxes of a Markdown file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backlog {
    /// The file, relative to the project; `None` when the loop names no area.
    file: Option<String>,
    section: Option<String>,
    tick: bool,
}

/// An area that would lead out of the project's design folder.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("work_source.area: `{area}` is no folder below `design/`")]
pub struct InvalidArea {
    area: String,
}

impl Backlog {
    /// Makes the source from a loop's options.
    ///
    /// # Errors
    ///
    /// [`InvalidArea`] for an absolute area and one with `..` in it.
    pub fn new(options: &SourceOptions) -> Result<Self, InvalidArea> {
        let area = options.area.as_deref().filter(|area| !area.is_empty());
        let below = |area: &str| {
            let mut parts = Path::new(area).components();
            parts.all(|part| matches!(part, Component::Normal(_))) && !area.contains('\0')
        };
        if let Some(area) = area.filter(|area| !below(area)) {
            let area = loop_core::text::without_controls(area);
            return Err(InvalidArea { area });
        }
        let file = |area: &str| format!("design/{}/BACKLOG.md", area.trim_end_matches('/'));
        Ok(Self {
            file: area.map(file),
            section: options.section.clone(),
            tick: options.tick_when_done,
        })
    }

    /// Reads the file; what is not there has no work, and says so.
    fn read(&self, project: &mut dyn Project) -> Result<Option<(String, String)>, SourceError> {
        let Some(file) = &self.file else {
            project.note(
                Level::Warning,
                "work_source.area is missing: no backlog is read",
            );
            return Ok(None);
        };
        let Some(bytes) = project.read(file)? else {
            project.note(Level::Warning, &format!("{file} is missing"));
            return Ok(None);
        };
        Ok(Some((file.clone(), text(file, bytes)?)))
    }

    /// Returns the entries that count.
    fn entries(&self, list: &List<'_>, project: &mut dyn Project) -> Vec<usize> {
        let section = self.section.as_deref();
        list.in_section(section).unwrap_or_else(|| {
            let text = format!(
                "the backlog has no heading `{}`",
                section.unwrap_or_default()
            );
            project.note(Level::Warning, &text);
            Vec::new()
        })
    }
}

impl WorkSource for Backlog {
    fn next(&self, view: &LoopView, project: &mut dyn Project) -> Result<Next, SourceError> {
        let Some((file, text)) = self.read(project)? else {
            return Ok(Next::Nothing(Skip::NoWork));
        };
        let list = List::new(&file, &text);
        let tasks = project.task_names()?.into_iter().collect();
        for (order, i) in self.entries(&list, project).into_iter().enumerate() {
            if list.standing(i) != Mine::Open {
                continue;
            }
            let name = task_name(&file, &list, i, &tasks, project)?;
            let item = self.item(&file, &list, i, order);
            if let Some(found) = pick::take(&name, &item, view, project)? {
                return Ok(Next::Found(Box::new(found)));
            }
        }
        Ok(Next::Nothing(Skip::NoWork))
    }

    fn survey(
        &self,
        view: &LoopView,
        project: &mut dyn Project,
    ) -> Result<Vec<Surveyed>, SourceError> {
        let Some((file, text)) = self.read(project)? else {
            return Ok(Vec::new());
        };
        let list = List::new(&file, &text);
        let tasks = project.task_names()?.into_iter().collect();
        let mut surveyed = Vec::new();
        for (order, i) in self.entries(&list, project).into_iter().enumerate() {
            let task = task_name(&file, &list, i, &tasks, project)?;
            let standing = match list.standing(i) {
                Mine::Open if tasks.contains(&task) => {
                    pick::standing(&task, project.task(&task)?.as_ref(), view)
                }
                Mine::Open => Standing::Open,
                Mine::Done => Standing::Done,
                Mine::Parked(mark) => Standing::Parked {
                    why: format!("marked [{mark}]"),
                },
                Mine::Waiting(child) => Standing::Waiting {
                    on: list.title(child).to_owned(),
                },
            };
            surveyed.push(Surveyed {
                task,
                item: self.item(&file, &list, i, order),
                standing,
            });
        }
        Ok(surveyed)
    }

    fn finish(&self, item: &Item, project: &mut dyn Project) -> Result<Finish, SourceError> {
        let Completion::TickBox { file, content } = &item.completion else {
            return Ok(Finish::Nothing);
        };
        for _ in 0..ATTEMPTS {
            let Some(bytes) = project.read(file)? else {
                return Ok(conflict(file, item, "the file is gone"));
            };
            let was = text(file, bytes)?;
            let list = List::new(file, &was);
            let i = match find(&list, &item.id, content) {
                Ok(i) => i,
                Err(what) => return Ok(conflict(file, item, what)),
            };
            match list.entry(i).mark {
                Mark::Done => return Ok(Finish::Before),
                Mark::Parked(_) => return Ok(conflict(file, item, "its item was put aside")),
                Mark::Open => {}
            }
            if list.standing(i) != Mine::Open {
                return Ok(conflict(
                    file,
                    item,
                    "its item has children or was put aside",
                ));
            }
            let mut new = was.clone();
            let at = list.entry(i).at;
            new.replace_range(at..=at, "x");
            if project.replace(file, was.as_bytes(), new.as_bytes())? == Written::Now {
                return Ok(Finish::Done);
            }
        }
        Ok(conflict(file, item, "someone else keeps changing the file"))
    }
}

impl Backlog {
    fn item(&self, file: &str, list: &List<'_>, i: usize, order: usize) -> Item {
        let origin = Origin {
            kind: OriginKind::Backlog,
            id: Some(list.id(i)),
            file: Some(file.to_owned()),
            line: Some(list.entry(i).line as u64),
            url: None,
        };
        let mut item = Item::new(&list.id(i), list.title(i), &list.body(i), origin);
        item.order = order;
        if self.tick {
            item.completion = Completion::TickBox {
                file: file.to_owned(),
                content: list.content(i),
            };
        }
        item
    }
}

/// Returns the name of an item's task.
///
/// It is the item's plain name, unless another item of the file has that: then a
/// hash follows. Who has it stands in the task's record, so that adding, moving
/// and removing other items changes no names.
fn task_name(
    file: &str,
    list: &List<'_>,
    i: usize,
    tasks: &BTreeSet<String>,
    project: &mut dyn Project,
) -> Result<String, SourceError> {
    let plain = list.name(i);
    let other = list.other_name(i);
    if tasks.contains(&other) {
        return Ok(other);
    }
    let namesakes = list.namesakes(i);
    let first = namesakes.first() == Some(&i);
    if !tasks.contains(plain) {
        return Ok(if first { plain.to_owned() } else { other });
    }
    let record = project.task(plain)?.and_then(|facts| facts.record);
    let Some(origin) = record
        .map(|record| record.origin)
        .filter(|origin| origin.kind == OriginKind::Backlog)
    else {
        // A person made the task for the item of that name.
        return Ok(if first { plain.to_owned() } else { other });
    };
    if origin.file.as_deref() != Some(file) {
        return Ok(other);
    }
    let owner = namesakes
        .iter()
        .find(|j| origin.id.as_deref() == Some(list.id(**j).as_str()));
    // The item of the task was edited or moved: which of those left is it?
    let mut left = namesakes
        .iter()
        .filter(|j| !tasks.contains(&list.other_name(**j)));
    match (owner, left.next(), left.next()) {
        (Some(owner), _, _) if *owner == i => Ok(plain.to_owned()),
        (Some(_), _, _) => Ok(other),
        (None, Some(only), None) if *only == i => Ok(plain.to_owned()),
        (None, _, Some(_)) => Err(SourceError::File {
            file: file.to_owned(),
            line: list.entry(i).line,
            what: format!(
                "several items could be task `{plain}`, whose own was edited; \
                 give them different names in bold"
            ),
        }),
        (None, _, None) => Ok(other),
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
    Finish::Conflict {
        what: format!(
            "{file}: the box of \"{}\" was not ticked: {what}",
            item.title
        ),
    }
}

/// Returns a file's text; bytes that are none are an error, because a place in
/// repaired text is no place in the file.
fn text(file: &str, bytes: Vec<u8>) -> Result<String, SourceError> {
    String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        SourceError::File {
            file: file.to_owned(),
            line: 1 + good.iter().filter(|byte| **byte == b'\n').count(),
            what: "is not UTF-8".to_owned(),
        }
    })
}

#[cfg(test)]
mod tests;
