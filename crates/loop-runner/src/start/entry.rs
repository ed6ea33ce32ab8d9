//! One loop as its conductor sees it.

use super::cadence::Plan;
use super::look::Mark;
use super::{Doing, Ending, Wait};
use crate::driver::Ticked;
use loop_core::outcome::Outcome;
use loop_core::state::State;
use loop_core::time::Timestamp;

/// What a loop is doing, with what belongs to it.
#[derive(Clone, Debug)]
pub(super) enum Place {
    /// It ticks when its time has come.
    Due,
    /// It is in a tick.
    Ticking,
    /// It waits for something that is not a time.
    Waiting(Wait),
    /// It is not driven any more.
    Over(Box<Ending>),
}

/// One loop.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) plan: Plan,
    pub(super) place: Place,
    /// When its schedule has it tick next.
    pub(super) due: Timestamp,
    /// Before which its state has it not tick.
    pub(super) not_before: Option<Timestamp>,
    /// How it looked when it was looked at; `None` has it looked at again.
    pub(super) mark: Option<Mark>,
    /// Number of the last record that was seen.
    pub(super) seq: Option<u64>,
    pub(super) paused: bool,
    /// Numbered ticks that were made.
    pub(super) ticks: u64,
    /// How the latest tick ended, and why.
    pub(super) last: Option<(Outcome, String)>,
    pub(super) state: Option<State>,
    /// The latest ending without a number that was told of.
    pub(super) skip_told: Option<(Outcome, String)>,
    /// The latest wait that was told of.
    pub(super) wait_told: Option<Wait>,
}

impl Entry {
    pub(super) fn new(name: &str, now: Timestamp) -> Self {
        Self {
            name: name.to_owned(),
            plan: Plan::default(),
            place: Place::Due,
            due: now,
            not_before: None,
            mark: None,
            seq: None,
            paused: false,
            ticks: 0,
            last: None,
            state: None,
            skip_told: None,
            wait_told: None,
        }
    }

    /// Returns when it ticks next, if it waits for a time alone.
    pub(super) fn ticks_at(&self) -> Option<Timestamp> {
        match self.place {
            Place::Due => Some(self.not_before.map_or(self.due, |time| time.max(self.due))),
            _ => None,
        }
    }

    pub(super) fn is_ticking(&self) -> bool {
        matches!(self.place, Place::Ticking)
    }

    pub(super) fn is_over(&self) -> bool {
        matches!(self.place, Place::Over(_))
    }

    /// Whether it goes on without a person's approval.
    pub(super) fn is_busy(&self) -> bool {
        !matches!(self.place, Place::Over(_) | Place::Waiting(Wait::Person))
    }

    pub(super) fn doing(&self) -> Doing {
        match self.place {
            Place::Due => Doing::Due(self.ticks_at().unwrap_or(self.due)),
            Place::Ticking => Doing::Ticking,
            Place::Waiting(wait) => Doing::Waiting(wait),
            Place::Over(_) => Doing::Over,
        }
    }

    /// Takes in how a tick ended. Returns whether to tell of it: an ending without
    /// a number is told of when it differs from the one before.
    pub(super) fn take(&mut self, ticked: &Ticked, now: Timestamp) -> bool {
        let ended = &ticked.ended;
        let told = (ended.outcome.clone(), ended.why.clone());
        self.last = Some(told.clone());
        if let Some(state) = &ticked.state {
            self.paused = state.paused;
            self.not_before = state.not_before.filter(|time| *time > now);
            self.state = Some(state.clone());
        }
        // What others did meanwhile has not been seen.
        self.mark = None;
        if ended.tick.is_some() {
            self.ticks += 1;
            self.skip_told = None;
            self.wait_told = None;
            return true;
        }
        let known = self.skip_told.as_ref() == Some(&told);
        self.skip_told = Some(told);
        !known
    }

    /// Sets when its next tick is due. Returns whether there is such a time.
    pub(super) fn schedule_next(&mut self, now: Timestamp) -> bool {
        let next = self.plan.next_tick_at(self.due, now);
        self.due = next.unwrap_or(self.due);
        next.is_some()
    }

    /// Brings a time back that a clock which was set back has put out of reach.
    pub(super) fn mend_due(&mut self, now: Timestamp) {
        let schedule = self.plan.schedule.as_ref();
        let interval = schedule.and_then(|schedule| schedule.interval());
        let Some(interval) = interval else {
            // A time of a calendar is the next one by the clock as it is now.
            let next = schedule.and_then(|_| self.plan.next_tick_at(now, now));
            self.due = next.map_or(self.due, |next| next.min(self.due));
            return;
        };
        let ahead = self.due.unix_millis().saturating_sub(now.unix_millis());
        if u128::try_from(ahead).is_ok_and(|ahead| ahead > interval.as_millis()) {
            self.schedule_next(now);
        }
    }
}
