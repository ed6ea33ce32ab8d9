//! When a loop ticks next, and what follows from how a tick ended.

use super::Wait;
use crate::driver::Ticked;
use crate::schedule::zone;
use loop_core::config::{Config, Schedule, WorkSourceKind};
use loop_core::outcome::{Error, Interruption, Outcome, Skip};
use loop_core::schedule::{Zone, next_fire};
use loop_core::state::Status;
use loop_core::time::Timestamp;
use std::time::Duration;

/// What driving a loop depends on, taken from its configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Plan {
    /// When it ticks; without a schedule at once, as long as there is work.
    pub(super) schedule: Option<Schedule>,
    /// The zone in which its times are read; `None` when nobody knows it, which the
    /// tick tells.
    pub(super) zone: Option<Zone>,
    /// Whether it has one task that a person gives it.
    pub(super) single: bool,
    /// Whether it works in the project itself.
    pub(super) in_place: bool,
}

impl Plan {
    pub(super) fn of(config: &Config) -> Self {
        Self {
            // A window alone says when not to tick.
            schedule: config
                .schedule()
                .filter(|schedule| schedule.interval().is_some() || schedule.cron.is_some())
                .cloned(),
            zone: zone::of(config.schedule()).ok(),
            single: config.work_source().kind() == WorkSourceKind::Single,
            in_place: !config.blast_radius().use_worktree(),
        }
    }

    /// Returns when the first tick is due: at once, unless times are named.
    /// `None` when none ever is.
    pub(super) fn first_tick_at(&self, now: Timestamp) -> Option<Timestamp> {
        match (&self.schedule, &self.zone) {
            (Some(schedule), Some(_)) if schedule.interval().is_none() => {
                self.next_tick_at(now, now)
            }
            _ => Some(now),
        }
    }

    /// Returns when the tick after the one that was due at `last` is due: the first
    /// time of the schedule that lies behind `now`, so that what was missed is made
    /// up for by one tick; without a schedule at once. `None` when there is no such
    /// time.
    pub(super) fn next_tick_at(&self, last: Timestamp, now: Timestamp) -> Option<Timestamp> {
        let Some(schedule) = &self.schedule else {
            return Some(now);
        };
        match schedule.interval() {
            Some(interval) => Some(next_on_grid(interval, last, now)),
            None => next_fire(schedule, now, self.zone.as_ref()?),
        }
    }
}

/// Returns the first time behind `now` on the grid of an interval that begins at
/// `last`.
fn next_on_grid(interval: Duration, last: Timestamp, now: Timestamp) -> Timestamp {
    let interval = i64::try_from(interval.as_millis()).unwrap_or(i64::MAX);
    let passed = now.unix_millis().saturating_sub(last.unix_millis());
    // A clock that was set back does not put the tick off.
    let missed = passed.max(0) / interval;
    let base = last.min(now).unix_millis();
    let next = base.saturating_add((missed + 1).saturating_mul(interval));
    Timestamp::from_unix_millis(next)
}

/// What follows from how a tick ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Then {
    /// The next tick, when its time has come.
    Next,
    /// The same tick again, at the time that the state names.
    NotBefore,
    /// The same tick again, a little later.
    Later,
    /// It waits.
    Wait(Wait),
    /// It is over, with this outcome.
    Over(Outcome),
}

/// Decides what follows.
pub(super) fn after(ticked: &Ticked, plan: &Plan) -> Then {
    let outcome = &ticked.ended.outcome;
    let scheduled = plan.schedule.is_some();
    let over = || Then::Over(outcome.clone());
    match outcome {
        Outcome::Pass if ticked.ended.complete && plan.single => done(ticked),
        Outcome::Pass
        | Outcome::Fail(_)
        | Outcome::Blocked(_)
        | Outcome::VerifyError(_)
        | Outcome::Environment(_)
        | Outcome::Parked(_)
        | Outcome::Interrupted(Interruption::Crash) => Then::Next,
        Outcome::Interrupted(_) | Outcome::Done { .. } => over(),
        Outcome::HumanIntervention(_) | Outcome::Skipped(Skip::HumanIntervention(_)) => {
            Then::Wait(Wait::Person)
        }
        Outcome::Skipped(Skip::Paused) => Then::Wait(Wait::Resume),
        Outcome::Skipped(Skip::NoCurrentTask) if is_complete(ticked) => done(ticked),
        Outcome::Skipped(Skip::NoWork | Skip::NoCurrentTask) if scheduled => Then::Next,
        Outcome::Skipped(Skip::NoWork) => done(ticked),
        // Whoever is at it makes the tick that is due.
        Outcome::Skipped(Skip::Locked) if scheduled => Then::Next,
        Outcome::Skipped(Skip::Locked) => Then::Wait(Wait::Tick),
        Outcome::Skipped(Skip::NotBefore) => Then::NotBefore,
        Outcome::Skipped(Skip::Window) if scheduled => Then::Next,
        Outcome::Skipped(Skip::Window) => Then::Later,
        Outcome::Skipped(Skip::NoCurrentTask | Skip::ContextFloor | Skip::Untrusted) => over(),
        Outcome::Error(Error::Config | Error::State | Error::StateRemoved) => over(),
        // A disk that is full, or a source that is offline, may be better by then.
        Outcome::Error(_) if scheduled => Then::Next,
        Outcome::Error(_) => over(),
    }
}

fn is_complete(ticked: &Ticked) -> bool {
    let state = ticked.state.as_ref();
    state.is_some_and(|state| state.status == Status::Complete)
}

fn done(ticked: &Ticked) -> Then {
    let state = ticked.state.as_ref();
    let parked = state.is_some_and(|state| !state.parked.is_empty());
    Then::Over(Outcome::Done { parked })
}

#[cfg(test)]
mod tests {
    use super::*;
    use loop_core::outcome::{EnvironmentFault, Failure, Halt, VerifyFault};
    use proptest::prelude::*;

    fn plan(config: &str) -> Plan {
        let text = format!(r#"{{"name": "l", "roles": {{}}, {config}}}"#);
        Plan::of(&Config::parse(&text).unwrap().config)
    }

    #[test]
    fn every_ending_has_a_sequel() {
        let at_once = plan(r#""work_source": {"kind": "backlog", "area": "a"}"#);
        let hourly = plan(r#""schedule": {"interval_seconds": 3600}"#);
        let over = |outcome: &Outcome| Then::Over(outcome.clone());
        for (outcome, unscheduled, scheduled) in [
            (Outcome::Pass, Some(Then::Next), Some(Then::Next)),
            (
                Outcome::Fail(Failure::GateRed),
                Some(Then::Next),
                Some(Then::Next),
            ),
            (
                Outcome::Blocked("x".into()),
                Some(Then::Next),
                Some(Then::Next),
            ),
            (
                Outcome::VerifyError(VerifyFault::Exit),
                Some(Then::Next),
                Some(Then::Next),
            ),
            (
                Outcome::Environment(EnvironmentFault::Auth),
                Some(Then::Next),
                Some(Then::Next),
            ),
            (
                Outcome::Parked(Halt::Blocked),
                Some(Then::Next),
                Some(Then::Next),
            ),
            (
                Outcome::Interrupted(Interruption::Crash),
                Some(Then::Next),
                Some(Then::Next),
            ),
            (Outcome::Interrupted(Interruption::Stop), None, None),
            (Outcome::Interrupted(Interruption::Signal), None, None),
            (
                Outcome::Skipped(Skip::Paused),
                Some(Then::Wait(Wait::Resume)),
                Some(Then::Wait(Wait::Resume)),
            ),
            (
                Outcome::Skipped(Skip::Locked),
                Some(Then::Wait(Wait::Tick)),
                Some(Then::Next),
            ),
            (
                Outcome::Skipped(Skip::NotBefore),
                Some(Then::NotBefore),
                Some(Then::NotBefore),
            ),
            (
                Outcome::Skipped(Skip::Window),
                Some(Then::Later),
                Some(Then::Next),
            ),
            (
                Outcome::Skipped(Skip::NoWork),
                Some(Then::Over(Outcome::Done { parked: false })),
                Some(Then::Next),
            ),
            (
                Outcome::Skipped(Skip::NoCurrentTask),
                None,
                Some(Then::Next),
            ),
            (Outcome::Skipped(Skip::ContextFloor), None, None),
            (Outcome::Skipped(Skip::Untrusted), None, None),
            (Outcome::Error(Error::Config), None, None),
            (Outcome::Error(Error::State), None, None),
            (Outcome::Error(Error::StateRemoved), None, None),
            (Outcome::Error(Error::SourceFailed), None, Some(Then::Next)),
            (Outcome::Error(Error::Disk), None, Some(Then::Next)),
        ] {
            let ticked = Ticked::without_state(outcome.clone(), String::new());
            let expected = unscheduled.unwrap_or_else(|| over(&outcome));
            assert_eq!(after(&ticked, &at_once), expected, "{outcome}");
            let expected = scheduled.unwrap_or_else(|| over(&outcome));
            assert_eq!(after(&ticked, &hourly), expected, "{outcome}, scheduled");
        }
        for halt in Halt::ALL {
            let ticked = Ticked::without_state(Outcome::HumanIntervention(*halt), String::new());
            assert_eq!(after(&ticked, &at_once), Then::Wait(Wait::Person));
        }
    }

    #[test]
    fn a_single_loop_is_done_with_its_task() {
        let single = plan(r#""schedule": {"interval_seconds": 3600}"#);
        let mut ticked = Ticked::without_state(Outcome::Pass, String::new());
        assert_eq!(after(&ticked, &single), Then::Next, "a phase of several");
        ticked.ended.complete = true;
        assert_eq!(
            after(&ticked, &single),
            Then::Over(Outcome::Done { parked: false })
        );
        let several = plan(r#""work_source": {"kind": "audit"}"#);
        assert_eq!(after(&ticked, &several), Then::Next);
    }

    // cases: 138, 141
    #[test]
    fn times_of_a_cron_expression_are_those_of_its_zone_and_missed_ones_are_one() {
        let nightly = plan(r#""schedule": {"cron": "30 6 * * *", "timezone": "Europe/Berlin"}"#);
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let now = at("2026-12-01T05:00:00Z");
        assert_eq!(nightly.first_tick_at(now), Some(at("2026-12-01T05:30:00Z")));
        let missed = nightly.next_tick_at(at("2026-11-20T05:30:00Z"), now);
        assert_eq!(missed, Some(at("2026-12-01T05:30:00Z")));
        let summer = nightly.next_tick_at(now, at("2026-07-01T05:00:00Z"));
        assert_eq!(summer, Some(at("2026-07-02T04:30:00Z")));
        // A zone that nobody knows is told by the tick.
        let lost = plan(r#""schedule": {"cron": "30 6 * * *", "timezone": "Nowhere/Land"}"#);
        assert_eq!(lost.first_tick_at(now), Some(now));
    }

    proptest! {
        // cases: 139
        #[test]
        fn the_next_tick_is_the_first_time_of_the_grid_behind_now(
            interval in 1_i64..=100_000,
            last in 0_i64..=1_000_000_000,
            passed in -1_000_000_i64..=1_000_000_000,
        ) {
            let config = format!(r#""schedule": {{"interval_seconds": {interval}}}"#);
            let plan = plan(&config);
            let at = Timestamp::from_unix_millis;
            let next = plan.next_tick_at(at(last), at(last + passed)).unwrap();
            let ahead = next.unix_millis() - (last + passed);
            prop_assert!(0 < ahead && ahead <= interval * 1000);
            if passed >= 0 {
                prop_assert_eq!((next.unix_millis() - last) % (interval * 1000), 0);
            }
        }
    }
}
