//! Who pays: every end of implement and of verify (decision D-4, row U-19).

use crate::world::World;
use crate::{limited, rules};

fn fresh(row: &str) {
    World::new(rules()).play(row);
}

// rows: B-06, B-07, L-01, L-04, U-19, V-09
// cases: 16, 24
#[test]
fn every_end_of_implement_has_its_price() {
    for row in [
        // Judged work is spent; a pass starts the counts over and moves the task.
        "implement changes / verify pass 1                | pass                      | 0 |     |    | active | worktree implement verify report advance",
        "implement changes / verify fail 0.4 do it so     | fail verdict              | 1 | 0.4 | do it so | active | worktree implement verify",
        // Whatever ends it, it is spent; no judge, no score.
        "implement exit 1                                 | fail exit                 | 1 |     |    | active | worktree implement",
        "implement exit 1 changes                         | fail exit                 | 1 |     |    | active | worktree implement",
        "implement exit 137                               | fail exit                 | 1 |     |    | active | worktree implement",
        "implement signal 9                               | fail signal               | 1 |     |    | active | worktree implement",
        "implement timeout                                | fail timeout              | 1 |     |    | active | worktree implement",
        "implement idle                                   | fail timeout              | 1 |     |    | active | worktree implement",
        "implement interrupted crash                      | interrupted crash         | 1 |     |    | active | worktree implement",
        "implement interrupted signal                     | interrupted signal        | 1 |     |    | active | worktree implement",
        "implement error outputs_unwritable               | error outputs_unwritable  | 1 |     |    | active | worktree implement",
        "implement replaced                               | human_intervention worktree_replaced | 1 | | | waits worktree_replaced | worktree implement",
        "implement changes blocked a key is missing       | blocked a key is missing  | 1 |     |    | active | worktree implement",
        // Nothing said, nothing done: no work. Any one of the two is an attempt.
        "implement silent same                            | fail empty                | 1 |     |    | active | worktree implement",
        "implement silent changes / verify fail 0.1       | fail verdict              | 1 | 0.1 |    | active | worktree implement verify",
        "implement silent unknown / verify fail 0.1       | fail verdict              | 1 | 0.1 |    | active | worktree implement verify",
        "implement silent unknown_before / verify fail 0.1 | fail verdict             | 1 | 0.1 |    | active | worktree implement verify",
        "implement same / verify fail 0.1                 | fail verdict              | 1 | 0.1 |    | active | worktree implement verify",
        // `no_work` is judged like any other claim, and wins over silence.
        "implement same no_work it is there / verify pass 1   | pass                  | 0 |     |    | active | worktree implement verify report advance",
        "implement silent no_work it is there / verify fail 0 | fail verdict          | 1 | 0   |    | active | worktree implement verify",
        // An environment fault of implement itself gives the iteration back.
        "implement env missing_program                    | environment missing_program | 0 |   |    | active | worktree implement",
        "implement env auth                               | environment auth          | 0 |     |    | active | worktree implement",
        "implement env prompt_too_large                   | environment prompt_too_large | 0 |  |    | active | worktree implement",
        // What never began costs nothing.
        "implement unbegun env prompt_unsendable          | environment prompt_unsendable | 0 | |    | active | worktree implement",
        "implement unbegun interrupted stop               | interrupted stop          | 0 |     |    | active | worktree implement",
        "implement unbegun error disk                     | error disk                | 0 |     |    | active | worktree implement",
        "worktree env setup_failed                        | environment setup_failed  | 0 |     |    | active | worktree",
        "worktree error worktree_failed                   | error worktree_failed     | 0 |     |    | active | worktree",
        "worktree interrupted crash                       | interrupted crash         | 0 |     |    | active | worktree",
        "worktree replaced | human_intervention worktree_replaced | 0 |  |    | waits worktree_replaced | worktree",
    ] {
        fresh(row);
    }
}

// rows: V-07, V-08, B-06
// cases: 24, 25
#[test]
fn every_end_of_verify_has_its_price() {
    for row in [
        // The judge's failure is never a score: the work is kept, its iteration held.
        "implement changes / verify exit 2                | verify_error exit         | 0 held | | | active | worktree implement verify",
        "implement changes / verify signal 11             | verify_error exit         | 0 held | | | active | worktree implement verify",
        "implement changes / verify timeout               | verify_error timeout      | 0 held | | | active | worktree implement verify",
        "implement changes / verify idle                  | verify_error timeout      | 0 held | | | active | worktree implement verify",
        "implement changes / verify env offline           | environment offline       | 0 held | | | active | worktree implement verify",
        "implement changes / verify unbegun env auth      | environment auth          | 0 held | | | active | worktree implement verify",
        "implement changes / verify error disk             | error disk                | 0 held | | | active | worktree implement verify",
        // Tampering gives nothing back.
        "implement changes / verify replaced | human_intervention worktree_replaced | 1 | | | waits worktree_replaced | worktree implement verify",
        // Asked once more, when it exited with 0.
        "implement changes / verify mumbles / verify mumbles         | verify_error unreadable  | 0 held | | | active | worktree implement verify verify",
        "implement changes / verify mumbles / verify contradicts     | verify_error conflicting | 0 held | | | active | worktree implement verify verify",
        "implement changes / verify contradicts / verify mumbles     | verify_error unreadable  | 0 held | | | active | worktree implement verify verify",
        "implement changes / verify mumbles / verify exit 1          | verify_error exit        | 0 held | | | active | worktree implement verify verify",
        "implement changes / verify mumbles / verify timeout         | verify_error timeout     | 0 held | | | active | worktree implement verify verify",
        "implement changes / verify mumbles / verify env rate_limit  | environment rate_limit   | 0 held | | | active | worktree implement verify verify",
        "implement changes / verify mumbles / verify pass 0.9        | pass                     | 0 | | | active | worktree implement verify verify report advance",
        "implement changes / verify contradicts / verify fail 0.2 so | fail verdict             | 1 | 0.2 | so | active | worktree implement verify verify",
        // An interruption never gives it back, in whichever step.
        "implement changes / verify interrupted crash     | interrupted crash         | 1 | | | active | worktree implement verify",
        "implement changes / verify interrupted signal    | interrupted signal        | 1 | | | active | worktree implement verify",
        "implement changes / verify mumbles / verify interrupted stop | interrupted stop | 1 | | | active | worktree implement verify verify",
        "implement changes / verify unbegun interrupted stop | interrupted stop       | 1 | | | active | worktree implement verify",
        // What is blocked wins over pass and score; it is no score.
        "implement changes / verify blocked a decision    | blocked a decision        | 1 | | | active | worktree implement verify",
        // A pass that scores low is not believed, and is no failing score.
        "implement changes / verify pass 0.69             | human_intervention low_score | 1 | | | waits low_score | worktree implement verify",
        "implement changes / verify pass 0.7              | pass                      | 0 | | | active | worktree implement verify report advance",
        // Only pass decides: a high score does not turn a failure into a pass.
        "implement changes / verify fail 1                | fail verdict              | 1 | 1 | | active | worktree implement verify",
        "implement changes / verify pass 1 / report error disk | error disk           | 0 | | | active | worktree implement verify report",
    ] {
        fresh(row);
    }
}

// rows: B-06, K-06, K-07, K-10
// cases: 40
#[test]
fn the_hint_is_the_judges_latest_word_and_nobody_elses() {
    let mut world = World::new(rules());
    world.play(
        "
        implement changes / verify fail 0.1 fix the parser | fail verdict        | 1      | 0.1         | fix the parser | active | worktree implement verify
        # No failure of a harness, and no error text, becomes a hint.
        implement exit 1                                   | fail exit           | 2      | 0.1         | fix the parser | active | worktree implement
        implement env auth                                 | environment auth    | 2      | 0.1         | fix the parser | active | worktree implement
        implement changes / verify exit 1                  | verify_error exit   | 2 held | 0.1         | fix the parser | active | worktree implement verify
        verify fail 0.2 and the lexer                      | fail verdict        | 3      | 0.1 0.2     | and the lexer  | active | worktree tree verify
        implement changes / verify fail 0.3                | fail verdict        | 4      | 0.1 0.2 0.3 |                | active | worktree implement verify
        ",
    );
    let hints: Vec<&str> = world.calls.iter().map(|call| call.hint.as_str()).collect();
    let fix = "fix the parser";
    assert_eq!(
        hints,
        [
            "",
            "",
            fix,
            fix,
            fix,
            fix,
            fix,
            "and the lexer",
            "and the lexer"
        ],
        "implement and verify are told what the judge said last"
    );
    let judged = world.machine.state().last_verdict.clone().unwrap();
    assert_eq!((judged.task.as_str(), judged.tick), ("t", 6));
    assert_eq!(judged.verdict.unwrap().score.get(), 0.3);
    assert_eq!(judged.tree, world.tree());
}

// rows: V-07
// cases: 25
#[test]
fn the_second_question_names_the_fault_and_the_first_has_none() {
    let mut world = World::new(rules());
    world.play(
        "
        implement changes / verify mumbles / verify contradicts | verify_error conflicting | 0 held | | | active | worktree implement verify verify
        # The next tick asks afresh, as the first question.
        verify contradicts / verify fail 0                      | fail verdict | 1 | 0 | | active | worktree tree verify verify
        ",
    );
    let asked: Vec<(u32, Option<String>)> = world.calls[1..]
        .iter()
        .map(|call| (call.attempt, call.fault.as_ref().map(ToString::to_string)))
        .collect();
    let no_object = "the answer holds no JSON object with `pass` and `score`".to_owned();
    let disagree = "the answer holds verdicts that disagree on `pass`".to_owned();
    assert_eq!(
        asked,
        [
            (1, None),
            (2, Some(no_object)),
            (1, None),
            (2, Some(disagree))
        ]
    );
}

// rows: U-19, V-07, B-05
// cases: 24
#[test]
fn failures_in_a_row_stop_the_loop_and_anything_better_breaks_the_row() {
    for table in [
        // Implement's failures of every kind count together.
        "
        implement exit 1                   | fail exit    | 1 | | | active | worktree implement
        implement silent same              | fail empty   | 2 | | | active | worktree implement
        implement signal 9 changes         | human_intervention harness_failures | 3 | | | waits harness_failures | worktree implement
        ",
        "
        implement timeout changes          | fail timeout | 1 | | | active | worktree implement
        implement exit 1 changes           | fail exit    | 2 | | | active | worktree implement
        # It worked, so the row is broken, whatever the judge says, or does not say.
        implement changes / verify exit 1  | verify_error exit | 2 held | | | active | worktree implement verify
        > tree
        implement exit 1 changes           | fail exit    | 4 | | | active | worktree tree implement
        implement blocked a key            | blocked a key | 5 | | | active | worktree implement
        implement exit 1 changes           | fail exit    | 6 | | | active | worktree implement
        implement exit 1 changes           | fail exit    | 7 | | | active | worktree implement
        implement exit 1 changes           | human_intervention harness_failures | 8 | | | waits harness_failures | worktree implement
        ",
        // The judge's failures have a row of their own.
        "
        implement changes / verify exit 1  | verify_error exit | 0 held | | | active | worktree implement verify
        verify mumbles / verify mumbles    | verify_error unreadable | 0 held | | | active | worktree tree verify verify
        verify timeout                     | human_intervention verifier_broken | 0 held | | | waits verifier_broken | worktree tree verify
        ",
        "
        implement changes / verify exit 1  | verify_error exit | 0 held | | | active | worktree implement verify
        verify exit 1                      | verify_error exit | 0 held | | | active | worktree tree verify
        # Asked again and readable then: no failure at all.
        verify mumbles / verify fail 0.1   | fail verdict | 1 | 0.1 | | active | worktree tree verify verify
        implement changes / verify exit 1  | verify_error exit | 1 held | 0.1 | | active | worktree implement verify
        verify exit 1                      | verify_error exit | 1 held | 0.1 | | active | worktree tree verify
        verify exit 1                      | human_intervention verifier_broken | 1 held | 0.1 | | waits verifier_broken | worktree tree verify
        ",
    ] {
        World::new(rules()).play(table);
    }
    // One is enough when the loop says so.
    let strict = limited(|brakes| brakes.max_harness_failures = 1);
    World::new(strict.clone()).play(
        "implement exit 1 | human_intervention harness_failures | 1 | | | waits harness_failures | worktree implement",
    );
    World::new(strict).play(
        "implement changes / verify exit 1 | human_intervention verifier_broken | 0 held | | | waits verifier_broken | worktree implement verify",
    );
}

// rows: B-05
// cases: 104
#[test]
fn blocked_twice_in_a_row_stops_the_task() {
    for table in [
        "
        implement blocked a key                   | blocked a key | 1 | | | active | worktree implement
        implement blocked a key                   | human_intervention blocked | 2 | | | waits blocked | worktree implement
        ",
        // The judge and the implementer say the same thing.
        "
        implement changes / verify blocked a key  | blocked a key | 1 | | | active | worktree implement verify
        implement blocked a key                   | human_intervention blocked | 2 | | | waits blocked | worktree implement
        ",
        // An attempt in between that was judged otherwise, or failed, breaks the row.
        "
        implement changes / verify blocked a key  | blocked a key | 1 | | | active | worktree implement verify
        implement changes / verify fail 0.1       | fail verdict  | 2 | 0.1 | | active | worktree implement verify
        implement changes / verify blocked a key  | blocked a key | 3 | 0.1 | | active | worktree implement verify
        implement exit 1 changes                  | fail exit     | 4 | 0.1 | | active | worktree implement
        implement changes / verify blocked a key  | blocked a key | 5 | 0.1 | | active | worktree implement verify
        ",
        // No judgement is none of both.
        "
        implement changes / verify blocked a key  | blocked a key | 1 | | | active | worktree implement verify
        implement env auth                        | environment auth | 1 | | | active | worktree implement
        implement changes / verify exit 1         | verify_error exit | 1 held | | | active | worktree implement verify
        verify blocked a key                      | human_intervention blocked | 2 | | | waits blocked | worktree tree verify
        ",
    ] {
        World::new(rules()).play(table);
    }
}

// rows: L-14, U-06
#[test]
fn a_tick_says_which_attempt_it_was() {
    let mut world = World::new(rules());
    for (tick, attempt) in [
        ("implement changes / verify fail 0.1", 1),
        ("implement env auth", 1),
        ("implement exit 1 changes", 2),
        ("implement changes / verify exit 1", 2),
        // The attempt before is judged now; a pass tells how many it took.
        ("verify pass 1", 3),
        ("find_work no_work", 0),
        ("implement changes / verify pass 1", 1),
        ("implement changes / verify pass 0.1", 1),
        ("", 1),
    ] {
        world.tick(tick);
        let ended = world.machine.ended().unwrap();
        assert_eq!(ended.iteration, attempt, "{tick}");
    }
    // To its end, too.
    let mut world = World::new(rules());
    world.task.phase = None;
    world.tick("implement changes / verify fail 0.1");
    world.tick("implement changes / verify pass 1");
    let ended = world.machine.ended().unwrap();
    assert_eq!((ended.iteration, ended.complete), (2, true));
}
