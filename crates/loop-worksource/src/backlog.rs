//! The open boxes of a project's `design/<area>/BACKLOG.md`.
//!
//! The topmost open item that has no items with boxes below it is next. A parent
//! is never worked on itself: it is done when its children are. A person's `[~]`,
//! `[!]` or `[-]` puts an item aside with all below it. Boxes in code, comments
//! and block quotes are none. Without a `section` the whole file counts.

mod list;
mod markdown;
mod naming;
mod tick;

use crate::item::{Completion, Item};
use crate::kinds::SourceOptions;
use crate::pick;
use crate::project::{Level, Project};
use crate::source::{Finish, LoopView, Next, SourceError, Standing, Surveyed, WorkSource};
use list::{List, Mine};
use loop_core::outcome::Skip;
use loop_core::task::{Origin, OriginKind};
use naming::Names;
use std::collections::BTreeMap;
use std::path::{Component, Path};

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

    /// Returns the file, relative to the project; `None` when the loop names no area.
    #[must_use]
    pub fn file(&self) -> Option<&str> {
        self.file.as_deref()
    }

    /// Lists the items of `text` whose box is open, by id, with their titles;
    /// parents, which wait for others, too.
    #[must_use]
    pub fn open_items(&self, text: &str) -> BTreeMap<String, String> {
        let list = List::new(self.file().unwrap_or_default(), text);
        list.all()
            .filter(|i| matches!(list.standing(*i), Mine::Open | Mine::Waiting(_)))
            .map(|i| (list.id(i), list.title(i).to_owned()))
            .collect()
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
        let names = Names::new(project)?;
        for (order, i) in self.entries(&list, project).into_iter().enumerate() {
            if list.standing(i) != Mine::Open {
                continue;
            }
            let name = names.of(&list, i, project)?;
            let item = self.item(&list, i, order);
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
        let names = Names::new(project)?;
        let mut surveyed = Vec::new();
        for (order, i) in self.entries(&list, project).into_iter().enumerate() {
            let task = names.of(&list, i, project)?;
            let standing = match list.standing(i) {
                Mine::Open if names.exist(&task) => {
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
                item: self.item(&list, i, order),
                standing,
            });
        }
        Ok(surveyed)
    }

    fn finish(&self, item: &Item, project: &mut dyn Project) -> Result<Finish, SourceError> {
        let Completion::TickBox { file, content } = &item.completion else {
            return Ok(Finish::Nothing);
        };
        tick::tick(file, item, content, project)
    }
}

impl Backlog {
    fn item(&self, list: &List<'_>, i: usize, order: usize) -> Item {
        let origin = Origin {
            kind: OriginKind::Backlog,
            id: Some(list.id(i)),
            file: Some(list.file().to_owned()),
            line: Some(list.entry(i).line as u64),
            url: None,
        };
        let mut item = Item::new(&list.id(i), list.title(i), &list.body(i), origin);
        item.order = order;
        if self.tick {
            item.completion = Completion::TickBox {
                file: list.file().to_owned(),
                content: list.content(i),
            };
        }
        item
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
