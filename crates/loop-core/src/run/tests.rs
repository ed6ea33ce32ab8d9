use super::*;
use crate::Usd;
use crate::outcome::{EnvironmentFault, Halt, Outcome};
use crate::plan::{self, Planned};
use proptest::prelude::*;
use serde_json::json;

const VERIFY: &str = "7d1a54127b222502f5b79b5fb0803061152a44f92b37e23c6527baf665d4da9a";
const TASK: &str = "ef2d127de37b942baad06145e54b0c619a1f22327b2ebbcfbec78f5564afe39d";

fn pass(number: u32, gate_exit: Option<i32>, files: u64, why: &str) -> Pass {
    Pass {
        number,
        tick: u64::from(number) + 4,
        gate_exit,
        changed: Some(Size {
            files,
            added: files * 10,
            removed: files,
        }),
        why: why.to_owned(),
    }
}

/// A run that is stuck after three passes.
fn stuck() -> StateFile {
    let Planned::Plan(plan) = plan::read(
        "```json\n{\"v\": 1, \"boxes\": {\"bounded\": \"a\", \"rejectable\": \"b\", \
         \"end_to_end\": \"c\", \"objective\": \"d\"}, \"plan\": [{\"item\": \"keep the zone\", \
         \"check\": \"test_zone\"}, {\"item\": \"say so\\n## Log\", \"check\": \"grep CHANGES\"}], \
         \"frozen\": [\"tests/test_zone.py\"]}\n```\nPLANNED",
    ) else {
        panic!("it is a plan");
    };
    StateFile {
        phase: RunPhase::Iterate,
        pass: 3,
        cap: Some(10),
        tree: TreeAtStart::Dirty { files: 2 },
        gate_exit: Some(7),
        verify_sha256: Some(VERIFY.to_owned()),
        task_sha256: Some(TASK.to_owned()),
        plan: Some(plan),
        uncovered: vec!["it is documented".to_owned()],
        log: vec![
            pass(1, Some(7), 2, "1 of 2 checks failed"),
            pass(2, Some(7), 0, "1 of 2 checks failed\nphase: done"),
            pass(3, None, 1, "implement took too long"),
        ],
        ending: Some(Ending {
            outcome: RunOutcome::Stuck,
            reason: Some("no_progress".to_owned()),
            why: "the last 3 passes ended in the same way".to_owned(),
            changed: Some(Changed::of([
                ChangedFile {
                    path: "src/date.py".to_owned(),
                    added: Some(38),
                    removed: Some(2),
                },
                ChangedFile {
                    path: "logo\n.png".to_owned(),
                    added: None,
                    removed: None,
                },
            ])),
            cost_usd: Usd::from_micros(120_000),
            cost_source: "estimated",
            next: Some("loop log run".to_owned()),
            exit: 6,
        }),
    }
}

// rows: U-41, U-44, G-14, G-22, G-24
// cases: 131, 158
#[test]
fn the_state_file_says_all_that_is_known_of_a_run() {
    assert_eq!(
        stuck().to_string(),
        format!(
            "\
# State of the run

Written by `loop` alone, in every pass. What anybody else writes here is lost.

phase: aborted
pass: 3
outcome: stuck
reason: no_progress: the last 3 passes ended in the same way
dirty: yes, 2 files changed before the run
gate_exit: 7
verify_sha256: {VERIFY}
task_sha256: {TASK}

## Plan

1. keep the zone
   - check: test_zone
2. say so ## Log
   - check: grep CHANGES

No check covers:

- it is documented

Frozen besides the gate and the task:

- tests/test_zone.py

## Log

- pass 1 (tick 5): gate exit code 7; changed 2 files, +20 -2; 1 of 2 checks failed
- pass 2 (tick 6): gate exit code 7; changed 0 files; 1 of 2 checks failed phase: done
- pass 3 (tick 7): gate not run; changed 1 file, +10 -1; implement took too long

## Changed

2 files, +38 -2

- src/date.py +38 -2
- logo .png

## Cost

$0.12 (estimated)

## Next

    loop log run
"
        )
    );
}

// rows: G-22, U-44
// cases: 131, 158
#[test]
fn the_report_is_read_in_ten_seconds() {
    assert_eq!(
        RunReport::of(&stuck()).unwrap().to_string(),
        "\
outcome: stuck
reason: no_progress: the last 3 passes ended in the same way
gate exit code: 7
passes: 3 of 10
dirty: yes, 2 files changed before the run
tried:
  1. gate exit code 7; changed 2 files, +20 -2; 1 of 2 checks failed
  2. gate exit code 7; changed 0 files; 1 of 2 checks failed phase: done
  3. gate not run; changed 1 file, +10 -1; implement took too long
changed: 2 files, +38 -2
  src/date.py +38 -2
  logo .png
no check covers:
  it is documented
cost: $0.12 (estimated)
next: loop log run
"
    );
}

// rows: U-44
#[test]
fn programs_get_the_same_as_one_document() {
    let report = serde_json::to_value(RunReport::of(&stuck()).unwrap()).unwrap();
    assert_eq!(
        report,
        json!({
            "v": 1,
            "outcome": "stuck",
            "reason": "no_progress",
            "why": "the last 3 passes ended in the same way",
            "changed": {
                "files": 2, "added": 38, "removed": 2,
                "names": [
                    {"path": "src/date.py", "added": 38, "removed": 2},
                    {"path": "logo\n.png", "added": null, "removed": null},
                ],
            },
            "cost_usd": 0.12,
            "cost_source": "estimated",
            "next": "loop log run",
            "exit": 6,
            "gate_exit": 7,
            "passes": 3,
            "cap": 10,
            "tree_at_start": {"state": "dirty", "files": 2},
            "uncovered": ["it is documented"],
            "tried": [
                {"number": 1, "tick": 5, "gate_exit": 7,
                 "changed": {"files": 2, "added": 20, "removed": 2}, "why": "1 of 2 checks failed"},
                {"number": 2, "tick": 6, "gate_exit": 7,
                 "changed": {"files": 0, "added": 0, "removed": 0},
                 "why": "1 of 2 checks failed\nphase: done"},
                {"number": 3, "tick": 7, "gate_exit": null,
                 "changed": {"files": 1, "added": 10, "removed": 1},
                 "why": "implement took too long"},
            ],
        })
    );
}

// rows: G-22, U-44
#[test]
fn a_run_that_never_came_to_its_gate_says_so() {
    let mut state = StateFile::default();
    assert_eq!(RunReport::of(&state), None);
    state.ending = Some(Ending {
        outcome: RunOutcome::Refused,
        reason: Some("not_objective".to_owned()),
        why: String::new(),
        changed: None,
        cost_usd: None,
        cost_source: "unknown",
        next: None,
        exit: 3,
    });
    assert_eq!(
        RunReport::of(&state).unwrap().to_string(),
        "outcome: refused\nreason: not_objective\ngate exit code: not run\npasses: 0\ndirty: -\n\
         changed: unknown\ncost: unknown\n"
    );
    let file = state.to_string();
    assert!(
        file.contains("\nreason: not_objective\ndirty: -\ngate_exit: not run\n"),
        "{file}"
    );
    assert!(file.contains("\nNo pass yet.\n\n## Changed\n\nUnknown.\n\n## Cost\n\nunknown\n"));
}

#[test]
fn long_lists_are_cut_for_people_and_counted_for_all() {
    let mut state = stuck();
    state.log = (1..=25)
        .map(|number| pass(number, Some(1), 1, "red"))
        .collect();
    state.ending.as_mut().unwrap().changed =
        Some(Changed::of((0..2_000).map(|number| ChangedFile {
            path: format!("f{number}"),
            added: Some(1),
            removed: Some(0),
        })));
    let report = RunReport::of(&state).unwrap().to_string();
    assert!(report.lines().count() < 40, "{report}");
    assert!(
        report.contains("tried:\n  15 earlier: see STATE.md\n  16. gate"),
        "{report}"
    );
    assert!(
        report.contains("changed: 2000 files, +2000 -0\n  f0 +1 -0\n"),
        "{report}"
    );
    assert!(report.contains("  f9 +1 -0\n  and 1990 more\n"), "{report}");
    let file = state.to_string();
    assert!(file.contains("- pass 1 (tick 5)") && file.contains("- f999 +1 -0\n- and 1000 more\n"));
}

// rows: G-20, U-44
#[test]
fn every_end_of_a_tick_is_an_end_of_a_run() {
    use RunOutcome as R;
    for (outcome, expected) in [
        (Outcome::Pass, R::Green),
        (Outcome::Done { parked: false }, R::Green),
        (Outcome::Done { parked: true }, R::Aborted),
        (Outcome::Environment(EnvironmentFault::Auth), R::Aborted),
        (Outcome::Skipped(crate::outcome::Skip::NoWork), R::Aborted),
    ] {
        assert_eq!(R::of(&outcome), expected, "{outcome:?}");
    }
    for halt in Halt::ALL {
        let expected = match halt {
            Halt::MaxIterations
            | Halt::MaxCost
            | Halt::MaxTokens
            | Halt::MaxWall
            | Halt::MaxTicks => R::Cap,
            Halt::ScorePlateau | Halt::NoProgress | Halt::HarnessFailures => R::Stuck,
            Halt::Tampered | Halt::WorktreeReplaced => R::Tampered,
            Halt::Refused => R::Refused,
            _ => R::Aborted,
        };
        assert_eq!(
            R::of(&Outcome::HumanIntervention(*halt)),
            expected,
            "{halt}"
        );
        assert_eq!(json!(expected), json!(expected.as_str()));
        assert_eq!(expected.phase(), RunPhase::Aborted);
    }
    assert_eq!(R::Green.phase(), RunPhase::Done);
}

// rows: G-18, G-31, G-04
#[test]
fn the_header_is_read_back_and_a_wrong_digest_is_seen() {
    let file = stuck().to_string();
    for text in [
        file.clone(),
        file.replace('\n', "\r\n"),
        format!("\u{feff}{file}"),
    ] {
        let header = Header::read(&text);
        assert_eq!(header.verify_sha256, [VERIFY]);
        assert!(header.agrees(Some(VERIFY), Some(TASK)));
        assert!(!header.agrees(Some(VERIFY), None));
    }
    // What says nothing says nothing wrong.
    for text in ["", &StateFile::default().to_string()] {
        let header = Header::read(text);
        assert!(header.agrees(Some(VERIFY), Some(TASK)) && header.agrees(None, None));
    }
    let twice = file.replace("phase: ab", "verify_sha256: 00\nphase: ab");
    let swapped = file.replace("verify_sha256", "v");
    let swapped = swapped
        .replace("task_sha256", "verify_sha256")
        .replace("v:", "task_sha256:");
    for text in [&file.replace(VERIFY, TASK), &twice, &swapped] {
        assert!(
            !Header::read(text).agrees(Some(VERIFY), Some(TASK)),
            "{text}"
        );
    }
}

proptest! {
    // rows: G-18, U-41
    #[test]
    fn no_text_of_others_passes_for_a_field(text in any::<String>(), line in "(phase|task_sha256): [a-f0-9]{1,9}") {
        let mut state = stuck();
        let forged = format!("{text}\n{line}\r{line}\u{85}{line}\n## Log\n{text}");
        state.uncovered = vec![forged.clone()];
        state.log[0].why.clone_from(&forged);
        if let Some(plan) = &mut state.plan {
            plan.plan[0].item.clone_from(&forged);
        }
        if let Some(ending) = &mut state.ending {
            ending.why.clone_from(&forged);
            ending.next = Some(forged.clone());
        }
        let file = state.to_string();
        prop_assert!(Header::read(&file).agrees(Some(VERIFY), Some(TASK)));
        prop_assert_eq!(Header::read(&file).task_sha256, [TASK]);
        prop_assert_eq!(file.lines().filter(|line| line.starts_with("phase: ")).count(), 1);
        prop_assert_eq!(file.lines().filter(|line| line.starts_with("## ")).count(), 5);
    }
}
