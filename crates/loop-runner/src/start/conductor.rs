//! Who decides which loop ticks when.

use super::cadence::{Then, after};
use super::entry::{Entry, Place};
use super::lock::NotOurs;
use super::stage::{Message, World};
use super::{Audience, Ending, Finished, News, Options, Wait};
use crate::driver::Ticked;
use loop_core::outcome::{Error, Interruption, Outcome};
use loop_core::state::Status;
use loop_core::time::Timestamp;
use std::time::Duration;

/// Loops that are looked at in a second; more are looked at less often.
const LOOKS_A_SECOND: u64 = 500;

/// How often it is shown how ticks end.
const SHOWN_EVERY_MS: i64 = 1000;

/// How long a tick waits that may not be made yet, where no time is known.
const LATER_MS: i64 = 60_000;

/// Drives loops in a world.
pub(super) struct Conductor<'a, W> {
    world: W,
    options: &'a Options,
    audience: &'a mut dyn Audience,
    entries: Vec<Entry>,
    next_look: Timestamp,
}

impl<'a, W: World> Conductor<'a, W> {
    pub(super) fn new(world: W, options: &'a Options, audience: &'a mut dyn Audience) -> Self {
        let now = world.now();
        let entries = options.names.iter().map(|name| Entry::new(name, now));
        Self {
            entries: entries.collect(),
            world,
            options,
            audience,
            next_look: now,
        }
    }

    pub(super) fn run(mut self) -> Finished {
        for index in 0..self.entries.len() {
            self.enter(index);
        }
        loop {
            let interrupted = self.world.interrupted();
            let now = self.world.now();
            if !interrupted {
                self.look(now);
                self.launch(now);
            }
            if self.is_settled(interrupted) {
                return self.finish(interrupted);
            }
            let loops = self.entries.iter();
            let mut loops = loops.map(|entry| (entry.name.as_str(), entry.doing()));
            self.audience.rest(now, &mut loops);
            self.rest(now, interrupted);
        }
    }

    /// Takes a loop in: reads it, and makes sure that nobody else drives it.
    fn enter(&mut self, index: usize) {
        let now = self.world.now();
        // A broken one is told of by its tick.
        let plan = self.world.plan(index).unwrap_or_default();
        let first = plan.first_tick_at(now);
        self.entries[index].plan = plan;
        // What is asked for from here on is seen.
        self.entries[index].seq = self.world.found(index).map(|found| found.seq);
        match first {
            Some(time) => self.entries[index].due = time,
            None => return self.never_ticks(index),
        }
        self.lock(index);
    }

    fn lock(&mut self, index: usize) {
        match self.world.lock(index) {
            Ok(()) => self.entries[index].place = Place::Due,
            Err(NotOurs::Held(by)) => self.wait(index, Wait::Driver(by)),
            Err(NotOurs::Io(error)) => {
                let why = format!("cannot lock the loop for driving it: {error}");
                self.end(index, Outcome::Error(Error::Disk), why);
            }
        }
    }

    /// Starts the ticks that are due, the one that has waited longest first, as
    /// far as there are places for them.
    fn launch(&mut self, now: Timestamp) {
        let entries = self.entries.iter().enumerate();
        let mut due: Vec<_> = entries
            .filter_map(|(index, entry)| Some((entry.ticks_at()?, index)))
            .filter(|(time, _)| *time <= now)
            .collect();
        due.sort_unstable();
        for (_, index) in due {
            // Nobody is let past, or a loop that ticks alone would never get to it.
            if !self.has_place_for(index) {
                break;
            }
            self.entries[index].place = Place::Ticking;
            self.world.begin(index);
        }
    }

    fn has_place_for(&self, index: usize) -> bool {
        let mut ticking = self.entries.iter().filter(|entry| entry.is_ticking());
        let count = ticking.clone().count();
        if self.entries[index].plan.in_place {
            count == 0
        } else {
            count < self.options.jobs.get() && !ticking.any(|entry| entry.plan.in_place)
        }
    }

    /// Looks, now and then, at what others have done to the loops that rest.
    fn look(&mut self, now: Timestamp) {
        if now < self.next_look && self.next_look <= later(now, self.look_every()) {
            return;
        }
        self.next_look = later(now, self.look_every());
        for index in 0..self.entries.len() {
            self.entries[index].mend_due(now);
            match self.entries[index].place {
                Place::Over(_) | Place::Ticking => {}
                Place::Waiting(Wait::Driver(_)) => self.lock(index),
                Place::Waiting(Wait::Tick) => self.entries[index].place = Place::Due,
                Place::Waiting(_) | Place::Due => self.look_at(index, now),
            }
        }
    }

    fn look_every(&self) -> i64 {
        let resting = self.entries.iter().filter(|entry| !entry.is_over());
        let resting = u64::try_from(resting.count()).unwrap_or(u64::MAX);
        let millis = (resting.saturating_mul(1000) / LOOKS_A_SECOND).max(1000);
        i64::try_from(millis).unwrap_or(i64::MAX)
    }

    fn look_at(&mut self, index: usize, now: Timestamp) {
        let mark = self.world.mark(index);
        if self.entries[index].mark.replace(mark) == Some(mark) {
            return;
        }
        let Some(found) = self.world.found(index) else {
            return;
        };
        let entry = &mut self.entries[index];
        entry.paused = found.state.paused;
        let seq = entry.seq.replace(found.seq);
        entry.not_before = found.state.not_before.filter(|time| *time > now);
        let halted = found.state.status == Status::HumanIntervention;
        match entry.place {
            Place::Waiting(Wait::Person) if !halted || found.request_waits => {
                entry.place = Place::Due;
            }
            Place::Waiting(Wait::Resume) if !found.state.paused || found.request_waits => {
                entry.place = Place::Due;
            }
            // A stop ends whoever drives the loop, also while it waits.
            Place::Due | Place::Waiting(_)
                if found.state.paused
                    && seq.is_some_and(|seq| self.world.was_stopped(index, seq)) =>
            {
                self.stopped(index);
            }
            Place::Due if found.state.paused => self.wait(index, Wait::Resume),
            _ => {}
        }
        self.entries[index].state = Some(found.state);
    }

    /// Waits for what happens, until the next tick or look is due. When it is to
    /// end, only the ticks that run are waited for.
    fn rest(&mut self, now: Timestamp, interrupted: bool) {
        let next = self.next_tick().filter(|time| *time < self.next_look);
        let until = match interrupted {
            true => later(now, SHOWN_EVERY_MS),
            false => next.unwrap_or(self.next_look),
        };
        let millis = until.unix_millis().saturating_sub(now.unix_millis());
        let mut limit = Duration::from_millis(u64::try_from(millis).unwrap_or(0));
        while let Some(message) = self.world.rest(limit) {
            self.hear(message);
            limit = Duration::ZERO;
        }
    }

    /// Returns when the next tick can be started.
    fn next_tick(&self) -> Option<Timestamp> {
        let next = self.entries.iter().enumerate();
        let (time, index) = next
            .filter_map(|(index, entry)| Some((entry.ticks_at()?, index)))
            .min()?;
        // Else the end of a tick comes first.
        self.has_place_for(index).then_some(time)
    }

    fn hear(&mut self, message: Message) {
        match message {
            Message::Bell => {}
            Message::News(index, news) => self.tell(index, &news),
            Message::Made(index, ticked, plan) => {
                if let Some(plan) = plan {
                    self.entries[index].plan = plan;
                }
                self.made(index, ticked);
            }
        }
    }

    fn tell(&mut self, index: usize, news: &News) {
        self.audience.hear(&self.entries[index].name, news);
    }

    /// Decides what follows from how a tick ended.
    fn made(&mut self, index: usize, ticked: Box<Ticked>) {
        let now = self.world.now();
        let entry = &mut self.entries[index];
        let then = after(&ticked, &entry.plan);
        let is_news = entry.take(&ticked, now);
        entry.place = Place::Due;
        let next_is_known = entry.schedule_next(now);
        let enough = self.options.max_ticks.is_some_and(|max| entry.ticks >= max);
        let (outcome, why) = (ticked.ended.outcome.clone(), ticked.ended.why.clone());
        if is_news {
            self.tell(index, &News::Ticked(ticked));
        }
        match then {
            Then::Over(outcome) => self.end(index, outcome, why),
            Then::Wait(Wait::Person) if !self.options.keeps_waiting => {
                self.end(index, outcome, why);
            }
            _ if enough => self.end(index, outcome, why),
            Then::Wait(wait) => self.wait(index, wait),
            Then::NotBefore => {
                let entry = &mut self.entries[index];
                entry.due = entry.not_before.unwrap_or(entry.due);
            }
            Then::Later => self.entries[index].due = later(now, LATER_MS),
            Then::Next if !next_is_known => self.never_ticks(index),
            Then::Next => {}
        }
    }

    fn wait(&mut self, index: usize, wait: Wait) {
        let entry = &mut self.entries[index];
        entry.place = Place::Waiting(wait);
        if entry.wait_told.replace(wait) != Some(wait) {
            self.tell(index, &News::Waits(wait));
        }
    }

    fn never_ticks(&mut self, index: usize) {
        let why = "its schedule names no time to come; correct schedule in loop.json".to_owned();
        self.end(index, Outcome::Error(Error::Config), why);
    }

    fn stopped(&mut self, index: usize) {
        let why = "the loop was stopped".to_owned();
        self.end(index, Outcome::Interrupted(Interruption::Stop), why);
    }

    fn end(&mut self, index: usize, outcome: Outcome, why: String) {
        self.world.unlock(index);
        let entry = &mut self.entries[index];
        let ending = Ending {
            outcome,
            why,
            ticks: entry.ticks,
            state: entry.state.take(),
        };
        let ending = Box::new(ending);
        entry.place = Place::Over(ending.clone());
        self.tell(index, &News::Over(ending));
    }

    /// Whether nothing more is to be done.
    fn is_settled(&self, interrupted: bool) -> bool {
        if interrupted {
            !self.entries.iter().any(Entry::is_ticking)
        } else {
            !self.entries.iter().any(Entry::is_busy)
        }
    }

    fn finish(mut self, interrupted: bool) -> Finished {
        for index in 0..self.entries.len() {
            if self.entries[index].is_over() {
                continue;
            }
            let last = self.entries[index].last.clone().filter(|_| !interrupted);
            let (outcome, why) = last.unwrap_or_else(|| {
                let why = "a signal ended the driver; everything is saved".to_owned();
                (Outcome::Interrupted(Interruption::Signal), why)
            });
            self.end(index, outcome, why);
        }
        let loops = self
            .entries
            .into_iter()
            .filter_map(|entry| match entry.place {
                Place::Over(ending) => Some((entry.name, *ending)),
                _ => None,
            });
        Finished {
            loops: loops.collect(),
            interrupted,
        }
    }
}

fn later(now: Timestamp, millis: i64) -> Timestamp {
    Timestamp::from_unix_millis(now.unix_millis().saturating_add(millis))
}
