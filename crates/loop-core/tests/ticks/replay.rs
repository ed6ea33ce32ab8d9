//! From records back to the machine: what follows is taken, nothing else is.

use crate::orchestrated;
use crate::world::World;
use loop_core::Step;
use loop_core::outcome::Outcome;
use loop_core::record::{Body, Record};
use loop_core::replay::replay;
use loop_core::state::State;

/// Two ticks, a pause between them, and an approval that is owed.
fn history() -> World {
    let mut world = World::new(orchestrated());
    world.play(
        "
        implement changes / verify mumbles / verify fail 0.4 h | fail verdict | 1 | 0.4 | h | active | worktree implement verify verify
        > pause  | granted | 1 | 0.4 | h | active paused |
        > resume | granted | 1 | 0.4 | h | active |
        > phase spec
        implement meets set_task:t changes / verify pass 1 / orchestrate meets !approve | human_intervention approval_required | 0 | | | waits approval_required | worktree implement verify report orchestrate
        > approve | granted | 0 | | | active | advance
        implement exit 1 | fail exit | 1 | | | active | worktree implement
        ",
    );
    world
}

// rows: L-08, L-12
#[test]
fn every_prefix_of_a_history_leads_to_its_state() {
    let world = history();
    let all = replay(State::new(), &world.records).unwrap();
    assert_eq!(all.machine.state(), world.machine.state());
    assert_eq!(all.engine, None, "no tick is open");
    for end in 0..world.records.len() {
        let part = replay(State::new(), &world.records[..end]).unwrap();
        if let Some(last) = world.records[..end].last() {
            let open = !matches!(last.body, Body::Closed(_) | Body::Control(_));
            assert!(!open || part.engine.is_some() || part.machine.state().in_progress.is_none());
        }
    }
    // What is for people only is passed over.
    let mut records = world.records;
    let at = records[0].at;
    let seq = records.len() as u64;
    let idle = Body::Idle {
        outcome: Outcome::Skipped(loop_core::outcome::Skip::Paused),
        why: "the loop is paused".to_owned(),
    };
    let healed = Body::Healed {
        cut_bytes: 7,
        kept: "events.torn-3".to_owned(),
    };
    for (after, body) in [(1, idle), (2, healed)] {
        records.push(Record {
            seq: seq + after,
            at,
            body,
        });
    }
    let replayed = replay(State::new(), &records).unwrap();
    assert_eq!(replayed.machine.state(), world.machine.state());
}

/// Returns where the `nth` record of that kind, of that step if any, stands.
fn find(records: &[Record], kind: &str, step: Option<Step>, nth: usize) -> usize {
    let is = |body: &Body| {
        let word = match body {
            Body::Opened(_) => "opened",
            Body::Began { .. } => "began",
            Body::Answer(_) => "answer",
            Body::Control(_) => "control",
            Body::Closed(_) => "closed",
            Body::Idle { .. } | Body::Healed { .. } => "note",
        };
        word == kind && (step.is_none() || body.step() == step)
    };
    let mut found = records
        .iter()
        .enumerate()
        .filter(|(_, record)| is(&record.body));
    found.nth(nth).unwrap().0
}

const STALE: &str = "the answer belongs to another step or attempt than the one that is asked for";

// rows: L-08
// cases: 55, 107
#[test]
fn records_that_do_not_follow_are_refused_where_they_stand() {
    type Change = fn(&mut Vec<Record>, usize);
    let fence: Change = |records, at| match &mut records[at].body {
        Body::Began { fence, .. } => fence.opened += 1,
        Body::Answer(answered) => answered.fence.opened += 1,
        body => panic!("{body:?}"),
    };
    let attempt: Change = |records, at| match &mut records[at].body {
        Body::Began { fence, .. } => fence.attempt += 1,
        Body::Answer(answered) => answered.fence.attempt += 1,
        body => panic!("{body:?}"),
    };
    let tick: Change = |records, at| match &mut records[at].body {
        Body::Opened(opened) => opened.tick += 1,
        Body::Began { tick, .. } => *tick = tick.map_or(Some(1), |tick| Some(tick + 1)),
        Body::Answer(answered) => answered.tick = answered.tick.map_or(Some(1), |_| None),
        Body::Closed(closed) => closed.tick += 1,
        body => panic!("{body:?}"),
    };
    let gone: Change = |records, at| {
        records.remove(at);
    };
    // As if it had never been: the numbers are without a gap, and do not help.
    let never: Change = |records, at| {
        records.remove(at);
        for record in &mut records[at..] {
            record.seq -= 1;
        }
    };
    let twice: Change = |records, at| {
        let again = records[at].clone();
        records.insert(at + 1, again);
        for record in &mut records[at + 1..] {
            record.seq += 1;
        }
    };
    let other_answer: Change = |records, at| {
        if let Body::Answer(answered) = &mut records[at].body {
            answered.answer = loop_core::StepAnswer::Tree(None);
        }
    };
    let other_end: Change = |records, at| {
        if let Body::Closed(closed) = &mut records[at].body {
            closed.outcome = Outcome::Pass;
        }
    };
    let other_state: Change = |records, at| {
        if let Body::Closed(closed) = &mut records[at].body {
            closed.state.spent.wall_ms += 1;
        }
    };
    let other_request: Change = |records, at| {
        if let Body::Control(requested) = &mut records[at].body {
            requested.control.request = loop_core::control::Request::Pause;
        }
    };
    let implement = Some(Step::Implement);
    let verify = Some(Step::Verify);
    let foreign = "and stands in";
    let missing = "a record is missing before it";
    for (what, kind, step, nth, change, off, why) in [
        (
            "another tick's began",
            "began",
            implement,
            0,
            fence,
            0,
            STALE,
        ),
        (
            "another tick's answer",
            "answer",
            implement,
            0,
            fence,
            0,
            STALE,
        ),
        (
            "another attempt's began",
            "began",
            verify,
            1,
            attempt,
            0,
            STALE,
        ),
        (
            "another attempt's answer",
            "answer",
            verify,
            1,
            attempt,
            0,
            STALE,
        ),
        ("a began twice", "began", implement, 0, twice, 1, STALE),
        ("an answer twice", "answer", implement, 0, twice, 1, STALE),
        (
            "no began",
            "began",
            implement,
            0,
            never,
            0,
            "step `implement` was not begun",
        ),
        ("no answer", "answer", implement, 0, never, 0, STALE),
        ("no opened", "opened", None, 0, never, 0, STALE),
        (
            "an opened twice",
            "opened",
            None,
            0,
            twice,
            1,
            "the loop is busy: worktree",
        ),
        (
            "no closed",
            "closed",
            None,
            0,
            never,
            2,
            "the loop is busy: close",
        ),
        (
            "a closed twice",
            "closed",
            None,
            0,
            twice,
            1,
            "nothing was asked for",
        ),
        (
            "no answer at the end",
            "answer",
            verify,
            1,
            never,
            0,
            "this is no answer to `verify`",
        ),
        (
            "an answer to something else",
            "answer",
            implement,
            0,
            other_answer,
            0,
            "this is no answer to `implement`",
        ),
        (
            "a request that was another",
            "control",
            None,
            2,
            other_request,
            99,
            "the state in it is another than its records lead to",
        ),
        ("another number", "opened", None, 0, tick, 0, foreign),
        (
            "began in another tick",
            "began",
            implement,
            0,
            tick,
            0,
            foreign,
        ),
        (
            "answered in another tick",
            "answer",
            verify,
            0,
            tick,
            0,
            foreign,
        ),
        ("closed another tick", "closed", None, 0, tick, 0, foreign),
        (
            "another outcome",
            "closed",
            None,
            0,
            other_end,
            0,
            "its records lead to another outcome",
        ),
        (
            "another state",
            "closed",
            None,
            0,
            other_state,
            0,
            "the state in it is another than its records lead to",
        ),
        ("a gap", "control", None, 1, gone, 0, missing),
        (
            "a gap before an answer",
            "began",
            implement,
            0,
            gone,
            0,
            missing,
        ),
        // The move that an approval made owed stands outside any tick.
        (
            "an owed move in a tick",
            "began",
            Some(Step::Advance),
            0,
            tick,
            0,
            foreign,
        ),
        (
            "an owed move of another approval",
            "began",
            Some(Step::Advance),
            0,
            fence,
            0,
            STALE,
        ),
    ] {
        let mut records = history().records;
        let at = find(&records, kind, step, nth);
        change(&mut records, at);
        let error = replay(State::new(), &records).unwrap_err();
        assert!(error.why.contains(why), "{what}: {error}");
        if off < 99 {
            assert_eq!(error.seq, records[at + off].seq, "{what}: {error}");
        }
        assert!(
            error
                .to_string()
                .starts_with(&format!("record {} does not follow", error.seq))
        );
    }
}
