use super::*;
use crate::bill::Usage;
use crate::outcome::{EnvironmentFault, Error, Failure, Interruption, VerifyFault};
use crate::state::{Spent, Status};
use NotifyEvent::{Approval, Budget80, Done, Stopped, VerifierBroken};

fn ended(outcome: Outcome) -> Ended {
    Ended {
        outcome,
        why: "so it is".to_owned(),
        tick: Some(7),
        task: Some("t1".to_owned()),
        phase: None,
        iteration: 1,
        verdict: None,
        gate: None,
        violations: Vec::new(),
        complete: false,
        worktree: None,
        used: Usage::default(),
    }
}

fn spent(usd: &str) -> State {
    State {
        spent: Spent {
            used: Usage {
                usd: usd.parse().unwrap(),
                ..Usage::default()
            },
            ..Spent::default()
        },
        ..State::new()
    }
}

fn halted(halt: Halt) -> State {
    State {
        status: Status::HumanIntervention,
        reason: Some(halt),
        ..State::new()
    }
}

/// The events of an end between two states.
fn told(before: &State, after: &State, ended: &Ended, latest: Option<&Outcome>) -> Vec<Notice> {
    notices(&Call {
        name: "L",
        max_cost: Some("10".parse().unwrap()),
        before,
        latest,
        after,
        ended,
    })
}

fn events(outcome: Outcome) -> Vec<NotifyEvent> {
    let state = State::new();
    let notices = told(&state, &state, &ended(outcome), None);
    notices.iter().map(|notice| notice.event).collect()
}

// cases: 104, 158
#[test]
fn each_way_to_stop_is_told_under_one_name() {
    for halt in Halt::ALL.iter().copied() {
        let event = match halt {
            Halt::ApprovalRequired => Approval,
            Halt::VerifierBroken => VerifierBroken,
            _ => Stopped,
        };
        assert_eq!(events(Outcome::HumanIntervention(halt)), [event], "{halt}");
        if halt.parks() {
            assert_eq!(events(Outcome::Parked(halt)), [event], "{halt}");
        }
    }
}

#[test]
fn what_goes_on_by_itself_is_not_told() {
    let mut quiet = vec![Outcome::Pass, Outcome::Blocked("a key".to_owned())];
    quiet.extend(Failure::ALL.iter().copied().map(Outcome::Fail));
    quiet.extend(VerifyFault::ALL.iter().copied().map(Outcome::VerifyError));
    quiet.extend(
        EnvironmentFault::ALL
            .iter()
            .copied()
            .map(Outcome::Environment),
    );
    quiet.extend(Interruption::ALL.iter().copied().map(Outcome::Interrupted));
    quiet.extend(Skip::ITS_OWN.iter().copied().map(Outcome::Skipped));
    quiet.extend([true, false].map(|parked| Outcome::Done { parked }));
    for outcome in quiet {
        assert_eq!(events(outcome.clone()), [], "{outcome}");
    }
}

#[test]
fn a_finished_task_is_told_once() {
    let state = State::new();
    let done = Ended {
        complete: true,
        ..ended(Outcome::Pass)
    };
    let notices = told(&state, &state, &done, None);
    assert_eq!(notices.len(), 1);
    let notice = &notices[0];
    assert_eq!((notice.event, notice.tick), (Done, Some(7)));
    assert_eq!(notice.reason, None);
    assert_eq!(
        notice.what_to_do.as_deref(),
        Some("look at it: loop diff L t1")
    );
}

#[test]
fn a_loop_that_stays_halted_is_silent() {
    let state = halted(Halt::MaxIterations);
    let skipped = ended(Outcome::Skipped(Skip::HumanIntervention(
        Halt::MaxIterations,
    )));
    assert_eq!(told(&state, &state, &skipped, None), []);
    // Halted in this call, outside of any tick: an item that was edited meanwhile.
    let conflict = ended(Outcome::Skipped(Skip::HumanIntervention(Halt::Conflict)));
    let notices = told(&State::new(), &halted(Halt::Conflict), &conflict, None);
    assert_eq!(notices[0].event, Stopped);
    // A person has the task; the loop itself waits for nothing.
    let escalated = ended(Outcome::Skipped(Skip::HumanIntervention(Halt::Escalated)));
    assert_eq!(told(&State::new(), &State::new(), &escalated, None), []);
}

#[test]
fn an_error_is_told_until_it_is_another() {
    let state = State::new();
    let failed = ended(Outcome::Error(Error::SourceFailed));
    let latest = |latest: &Outcome| told(&state, &state, &failed, Some(latest)).len();
    assert_eq!(latest(&Outcome::Pass), 1);
    assert_eq!(latest(&Outcome::Error(Error::Disk)), 1);
    assert_eq!(latest(&Outcome::Error(Error::SourceFailed)), 0);
}

#[test]
fn four_fifths_of_the_cost_are_told_in_the_tick_that_passes_them() {
    let failed = ended(Outcome::Fail(Failure::Verdict));
    for (before, after, passed) in [
        ("0", "7.999999", false),
        ("7.999999", "8", true),
        ("7", "12", true),
        ("8", "8", false),
        ("8", "9.5", false),
        ("12", "13", false),
    ] {
        let notices = told(&spent(before), &spent(after), &failed, None);
        let expected: &[_] = if passed { &[Budget80] } else { &[] };
        let events: Vec<_> = notices.iter().map(|notice| notice.event).collect();
        assert_eq!(events, expected, "{before} to {after}");
    }
    // Both in one tick: in the order in which they came.
    let capped = ended(Outcome::HumanIntervention(Halt::MaxCost));
    let notices = told(&spent("1"), &spent("11"), &capped, None);
    let events: Vec<_> = notices.iter().map(|notice| notice.event).collect();
    assert_eq!(events, [Budget80, Stopped]);
    assert_eq!(notices[0].why, "$11.00 of $10.00 are spent");
    let without_cap = Call {
        name: "L",
        max_cost: None,
        before: &spent("1"),
        latest: None,
        after: &spent("11"),
        ended: &failed,
    };
    assert_eq!(super::notices(&without_cap), []);
}

#[test]
fn who_hears_of_stops_hears_of_a_broken_judge() {
    let state = State::new();
    let notice = |halt| {
        told(
            &state,
            &state,
            &ended(Outcome::HumanIntervention(halt)),
            None,
        )
    };
    let broken = &notice(Halt::VerifierBroken)[0];
    let approval = &notice(Halt::ApprovalRequired)[0];
    for (notice, on, told) in [
        (broken, Stopped, true),
        (broken, VerifierBroken, true),
        (broken, Done, false),
        (approval, Approval, true),
        (approval, Stopped, false),
    ] {
        assert_eq!(notice.concerns(&[on]), told, "{on}");
    }
}

// cases: 65, 115, 158
#[test]
fn a_message_has_the_documented_shape_and_no_secret() {
    let state = spent("0.5");
    let end = Ended {
        why: format!(
            "no login\u{1b}[31m\nfor hunter2hunter2 {}",
            "é".repeat(3_000)
        ),
        ..ended(Outcome::HumanIntervention(Halt::Blocked))
    };
    let notice = &told(&state, &state, &end, None)[0];
    let from = Sender {
        loop_name: "L",
        project: "/p",
        at: Timestamp::from_unix_millis(0),
    };
    let secrets = Secrets::of([("X_TOKEN", "hunter2hunter2")]);
    let message = serde_json::to_value(notice.message(&from, &secrets)).unwrap();
    let why = message["why"].as_str().unwrap();
    assert!(why.starts_with("no login for [redacted] ééé"), "{why}");
    assert!(why.ends_with(crate::text::TRUNCATED), "{why}");
    let expected = serde_json::json!({
        "v": 1,
        "event": "stopped",
        "loop": "L",
        "project": "/p",
        "task": "t1",
        "tick": 7,
        "reason": "blocked",
        "why": why,
        "do": "supply what is missing, then: loop approve L",
        "cost_usd": 0.5,
        "at": "1970-01-01T00:00:00.000Z",
    });
    assert_eq!(message, expected);
}
