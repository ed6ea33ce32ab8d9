//! What happens on a terminal: a line for each loop that is drawn over and over,
//! and the results above.

use super::plain::results;
use super::screen::Screen;
use super::words;
use crate::context::Context;
use crate::span::between;
use crate::terminal::size_of_stderr;
use crate::width::{pad, width};
use loop_core::time::Timestamp;
use loop_runner::start::{Audience, Doing, News, Wait};
use std::collections::BTreeMap;
use std::io::{Stderr, stderr};

/// The widest that the column of names gets.
const WIDEST_NAME: usize = 24;

/// Draws the loops.
pub(super) struct Live<'a> {
    context: &'a Context,
    screen: Screen<Stderr>,
    ticks: BTreeMap<String, Tick>,
}

/// The tick that runs.
#[derive(Default)]
struct Tick {
    number: u64,
    task: Option<String>,
    step: String,
    since: Timestamp,
}

impl<'a> Live<'a> {
    pub(super) fn new(context: &'a Context) -> Self {
        Self {
            context,
            screen: Screen::new(stderr()),
            ticks: BTreeMap::new(),
        }
    }

    fn line(&self, now: Timestamp, name: &str, doing: Doing) -> Option<String> {
        Some(match doing {
            Doing::Over => return None,
            Doing::Ticking => match self.ticks.get(name) {
                Some(tick) => tick.line(now),
                None => "looks for work".to_owned(),
            },
            Doing::Due(time) if time <= now => "waits for its turn".to_owned(),
            Doing::Due(time) => format!("next tick in {}", between(now, time)),
            Doing::Waiting(wait) => {
                let said = words::waits(name, wait);
                said.strip_prefix(name).unwrap_or(&said).trim().to_owned()
            }
        })
    }
}

impl Tick {
    fn line(&self, now: Timestamp) -> String {
        let Self {
            number, step, task, ..
        } = self;
        let task = task.as_deref().unwrap_or("no task");
        format!("tick {number}  {step} {}  {task}", between(self.since, now))
    }
}

impl Audience for Live<'_> {
    fn hear(&mut self, name: &str, news: &News) {
        match news {
            News::Opened { tick, task } => {
                let opened = Tick {
                    number: *tick,
                    task: task.clone(),
                    step: "opens".to_owned(),
                    since: self.context.around.clock.now(),
                };
                self.ticks.insert(name.to_owned(), opened);
            }
            News::StepStarted(step) => {
                if let Some(tick) = self.ticks.get_mut(name) {
                    tick.step = step.to_string();
                    tick.since = self.context.around.clock.now();
                }
            }
            News::Ticked(_) | News::Over(_) => {
                self.ticks.remove(name);
            }
            _ => {}
        }
        let said = results(self.context, name, news);
        if !said.is_empty() {
            self.screen.clear(size_of_stderr());
            for said in said {
                said.print();
            }
        }
    }

    fn rest(&mut self, now: Timestamp, loops: &mut dyn Iterator<Item = (&str, Doing)>) {
        let size = size_of_stderr();
        let mut lines: Vec<_> = loops
            .filter_map(|(name, doing)| Some((rank(doing), name, self.line(now, name, doing)?)))
            .collect();
        // What is going on comes first where there is no room for all.
        lines.sort_by_key(|(rank, _, _)| *rank);
        let room = size.rows.saturating_sub(2).max(1);
        let more = lines.len().saturating_sub(room);
        lines.truncate(room);
        let names = lines.iter().map(|(_, name, _)| width(name)).max();
        let names = names.unwrap_or(0).min(WIDEST_NAME);
        let lines = lines
            .iter()
            .map(|(_, name, what)| format!("{}  {what}", pad(name, names)));
        let rest = (more > 0).then(|| format!("and {more} more"));
        let lines: Vec<_> = lines.chain(rest).collect();
        self.screen.draw(&lines, size);
    }
}

fn rank(doing: Doing) -> u8 {
    match doing {
        Doing::Ticking => 0,
        Doing::Waiting(Wait::Person) => 1,
        Doing::Waiting(_) => 2,
        Doing::Due(_) => 3,
        Doing::Over => 4,
    }
}
