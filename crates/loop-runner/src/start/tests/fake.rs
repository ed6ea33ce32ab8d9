//! A world without files, threads or waiting.

use super::super::cadence::Plan;
use super::super::conductor::Conductor;
use super::super::lock::NotOurs;
use super::super::look::{Found, Mark};
use super::super::stage::{Message, World};
use super::super::{Audience, Doing, Finished, News, Options};
use crate::driver::Ticked;
use loop_core::config::Config;
use loop_core::outcome::Outcome;
use loop_core::state::State;
use loop_core::time::Timestamp;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::rc::Rc;
use std::time::Duration;

/// More than any of these tests needs; a driver that spins gets there soon.
const TOO_OFTEN: usize = 200_000;

/// How the `n`-th tick of a loop ends, and after how many milliseconds.
type Tick = dyn Fn(usize, usize) -> (u64, Ticked);

/// What is going on, and what was asked of the world.
pub(super) struct Facts {
    pub(super) now: u64,
    /// When a signal comes.
    pub(super) end: u64,
    pub(super) plans: Vec<Plan>,
    /// From when on a loop's files look like this, as they are read then.
    pub(super) changes: Vec<BTreeMap<u64, (u64, Found)>>,
    /// Until when somebody else drives a loop.
    pub(super) driven_until: BTreeMap<usize, u64>,
    /// Loops whose pause is a stop.
    pub(super) stops: bool,
    /// A time at which the clock jumps, and by how many milliseconds.
    pub(super) jump: Option<(u64, i64)>,
    pub(super) begun: Vec<(usize, u64)>,
    pub(super) ticking: usize,
    pub(super) most_ticking: usize,
    pub(super) rests: usize,
    pub(super) marks: usize,
    pub(super) reads: usize,
    coming: BTreeMap<(u64, usize), Ticked>,
    tick: Rc<Tick>,
}

/// The world, which a test still sees after it was handed over.
#[derive(Clone)]
pub(super) struct Fake(pub(super) Rc<RefCell<Facts>>);

impl Fake {
    /// Makes a world of `count` loops with this configuration, for `end`
    /// milliseconds.
    pub(super) fn new(
        count: usize,
        config: Value,
        end: u64,
        tick: impl Fn(usize, usize) -> (u64, Ticked) + 'static,
    ) -> Self {
        let mut whole = json!({"name": "l", "roles": {}});
        whole
            .as_object_mut()
            .unwrap()
            .extend(config.as_object().unwrap().clone());
        let plan = Plan::of(&Config::parse(&whole.to_string()).unwrap().config);
        Self(Rc::new(RefCell::new(Facts {
            now: 0,
            end,
            plans: vec![plan; count],
            changes: vec![BTreeMap::new(); count],
            driven_until: BTreeMap::new(),
            stops: false,
            jump: None,
            begun: Vec::new(),
            ticking: 0,
            most_ticking: 0,
            rests: 0,
            marks: 0,
            reads: 0,
            coming: BTreeMap::new(),
            tick: Rc::new(tick),
        })))
    }

    /// Lets somebody change the files of a loop.
    pub(super) fn change(&self, loop_: usize, at: u64, change: impl FnOnce(&mut State)) {
        let mut state = State::new();
        change(&mut state);
        let found = Found {
            state,
            seq: at + 1,
            request_waits: false,
        };
        self.0.borrow_mut().changes[loop_].insert(at, (at, found));
    }

    /// Drives it, and returns what was told.
    pub(super) fn drive(&self, options: impl FnOnce(&mut Options)) -> (Finished, Vec<String>) {
        let count = self.0.borrow().plans.len();
        let mut asked = Options {
            names: (0..count).map(|n| format!("l{n}")).collect(),
            max_ticks: None,
            jobs: NonZeroUsize::new(2).unwrap(),
            keeps_waiting: false,
        };
        options(&mut asked);
        let mut told = Told::default();
        let finished = Conductor::new(self.clone(), &asked, &mut told).run();
        (finished, told.0)
    }

    /// Returns when the ticks of a loop began, in milliseconds.
    pub(super) fn begun(&self, loop_: usize) -> Vec<u64> {
        let facts = self.0.borrow();
        let of_it = facts.begun.iter().filter(|(n, _)| *n == loop_);
        of_it.map(|(_, at)| *at).collect()
    }
}

/// What was told, a line each.
#[derive(Default)]
struct Told(Vec<String>);

impl Audience for Told {
    fn hear(&mut self, name: &str, news: &News) {
        self.0.push(match news {
            News::Ticked(ticked) => format!("{name} ticked {}", ticked.ended.outcome),
            News::Waits(wait) => format!("{name} waits {wait:?}"),
            News::Over(ending) => format!("{name} over {}", ending.outcome),
            other => format!("{name} {other:?}"),
        });
    }

    fn rest(&mut self, _now: Timestamp, loops: &mut dyn Iterator<Item = (&str, Doing)>) {
        assert!(loops.next().is_some());
    }
}

/// A tick with a number.
pub(super) fn ticked(outcome: Outcome) -> Ticked {
    let mut ticked = Ticked::without_state(outcome, "why".to_owned());
    ticked.ended.tick = Some(1);
    ticked
}

/// A call that took no number, or one that a loop's state explains.
pub(super) fn skipped(outcome: Outcome, change: impl FnOnce(&mut State)) -> Ticked {
    let mut state = State::new();
    change(&mut state);
    Ticked {
        state: Some(state),
        ..Ticked::without_state(outcome, "why".to_owned())
    }
}

impl Facts {
    fn current(&self, loop_: usize) -> Option<&(u64, Found)> {
        let changes = self.changes[loop_].range(..=self.now);
        changes.last().map(|(_, found)| found)
    }
}

impl World for Fake {
    fn now(&self) -> Timestamp {
        let facts = self.0.borrow();
        let jumped = facts.jump.filter(|(at, _)| facts.now >= *at);
        let by = jumped.map_or(0, |(_, by)| by);
        Timestamp::from_unix_millis(1_000_000_000_000 + i64::try_from(facts.now).unwrap() + by)
    }

    fn interrupted(&self) -> bool {
        let facts = self.0.borrow();
        facts.now >= facts.end
    }

    fn rest(&mut self, limit: Duration) -> Option<Message> {
        let mut facts = self.0.borrow_mut();
        facts.rests += 1;
        assert!(facts.rests < TOO_OFTEN, "it spins");
        let until = facts.now + u64::try_from(limit.as_millis()).unwrap();
        let next = facts.coming.keys().next().copied();
        let Some((at, loop_)) = next.filter(|(at, _)| *at <= until) else {
            facts.now = until;
            return None;
        };
        facts.now = facts.now.max(at);
        facts.ticking -= 1;
        let ticked = facts.coming.remove(&(at, loop_)).unwrap();
        Some(Message::Made(loop_, Box::new(ticked), None))
    }

    fn plan(&mut self, loop_: usize) -> Option<Plan> {
        Some(self.0.borrow().plans[loop_].clone())
    }

    fn lock(&mut self, loop_: usize) -> Result<(), NotOurs> {
        let facts = self.0.borrow();
        match facts.driven_until.get(&loop_) {
            Some(until) if facts.now < *until => Err(NotOurs::Held(Some(7))),
            _ => Ok(()),
        }
    }

    fn unlock(&mut self, _loop: usize) {}

    fn mark(&mut self, loop_: usize) -> Mark {
        let mut facts = self.0.borrow_mut();
        facts.marks += 1;
        Mark::fake(facts.current(loop_).map_or(0, |(at, _)| *at))
    }

    fn found(&mut self, loop_: usize) -> Option<Found> {
        let mut facts = self.0.borrow_mut();
        facts.reads += 1;
        let found = facts.current(loop_).map(|(_, found)| found.clone());
        Some(found.unwrap_or(Found {
            state: State::new(),
            seq: 0,
            request_waits: false,
        }))
    }

    fn was_stopped(&mut self, _loop: usize, _seq: u64) -> bool {
        self.0.borrow().stops
    }

    fn begin(&mut self, loop_: usize) {
        let mut facts = self.0.borrow_mut();
        let now = facts.now;
        let nth = facts.begun.iter().filter(|(n, _)| *n == loop_).count();
        facts.begun.push((loop_, now));
        facts.ticking += 1;
        facts.most_ticking = facts.most_ticking.max(facts.ticking);
        let (takes, ticked) = Rc::clone(&facts.tick)(loop_, nth);
        facts.coming.insert((now + takes, loop_), ticked);
    }
}
