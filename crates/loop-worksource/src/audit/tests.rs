//! Tests of the audit source, in a project in memory.

use super::*;
use crate::fake::{Audited, Fake, view};
use crate::project::ProjectError;
use crate::violation::Severity;
use loop_core::phase::COMPLETE;

fn violation(severity: Option<Severity>, message: &str, task: Option<&str>) -> Violation {
    Violation {
        severity,
        code: "rule".to_owned(),
        message: message.to_owned(),
        task: task.map(str::to_owned),
        detail: Some("more".to_owned()),
    }
}

fn project(violations: &[Violation]) -> Fake {
    let mut fake = Fake {
        violations: Audited(Ok(violations.to_vec())),
        ..Fake::default()
    };
    for task in violations.iter().filter_map(|v| v.task.as_deref()) {
        fake.by_hand(task, true);
    }
    fake
}

fn next(fake: &mut Fake) -> Option<String> {
    match Audit.next(&view("l"), fake).unwrap() {
        Next::Found(found) => Some(found.task.name),
        Next::Nothing(skip) => {
            assert_eq!(skip, Skip::NoWork);
            None
        }
    }
}

// rows: S-08, S-09, S-10, S-11, S-12, Q-19
#[test]
fn picks_highest_severity() {
    use Severity::{High, Low, Med};
    let mut fake = project(&[
        violation(None, "odd", Some("t-odd")),
        violation(Some(Low), "low", Some("t-low")),
        violation(Some(Med), "med", Some("t-med")),
        violation(Some(High), "high", Some("t-high")),
        violation(Some(High), "high too", Some("t-high-too")),
    ]);
    let mut order = Vec::new();
    while let Some(task) = next(&mut fake) {
        fake.put(&task, COMPLETE);
        order.push(task);
    }
    assert_eq!(order, ["t-high", "t-high-too", "t-med", "t-low", "t-odd"]);
    assert!(fake.created.is_empty());
}

// rows: S-13, S-14, S-15, Q-20
#[test]
fn creates_task_when_no_task_field() {
    for task in [None, Some("")] {
        let mut fake = Fake {
            violations: Audited(Ok(vec![violation(
                Some(Severity::High),
                "Loop x: bad JSON!",
                task,
            )])),
            ..Fake::default()
        };
        assert_eq!(next(&mut fake).as_deref(), Some("loop-x-bad-json"));
        assert_eq!(next(&mut fake).as_deref(), Some("loop-x-bad-json"));
        assert_eq!(fake.created.len(), 1, "the task is made once");
        let made = &fake.created[0];
        assert_eq!(made.title, "Loop x: bad JSON!");
        assert_eq!(made.brief, "# Loop x: bad JSON!\n\nmore\n");
        assert_eq!(made.origin.kind, OriginKind::Audit);
        fake.put("loop-x-bad-json", COMPLETE);
        assert_eq!(next(&mut fake), None, "a finished task is not begun again");
    }
}

// rows: S-07, Q-21
#[test]
fn skips_when_no_violations() {
    assert_eq!(next(&mut Fake::default()), None);
}

// rows: S-16
// cases: 150
#[test]
fn a_task_that_cannot_be_made_does_not_hide_the_next_violation() {
    let mut fake = Fake {
        violations: Audited(Ok(vec![
            violation(Some(Severity::High), "first", None),
            violation(Some(Severity::High), "bad name", Some("../x")),
            violation(Some(Severity::Low), "second", None),
        ])),
        refused: ["first".to_owned()].into(),
        ..Fake::default()
    };
    assert_eq!(next(&mut fake).as_deref(), Some("second"));
    assert!(fake.noted(Level::Error, "\"first\" is passed over: read-only"));
    assert!(fake.noted(Level::Error, "`../x` is not a name"));
    fake.refused.insert("second".to_owned());
    fake.tasks.clear();
    assert_eq!(next(&mut fake), None);
}

// rows: S-19
#[test]
fn an_audit_that_fails_is_an_error_and_never_no_work() {
    let what = "tasks: permission denied".to_owned();
    let mut fake = Fake {
        violations: Audited(Err(ProjectError { what: what.clone() })),
        ..Fake::default()
    };
    let answer = Audit.next(&view("l"), &mut fake);
    assert_eq!(crate::to_work(&answer), loop_core::Work::Failed { what });
}

#[test]
fn a_survey_says_how_each_violation_stands() {
    let mut fake = project(&[
        violation(Some(Severity::Low), "low", Some("t")),
        violation(Some(Severity::High), "made", None),
    ]);
    fake.put("t", COMPLETE);
    let surveyed = Audit.survey(&view("l"), &mut fake).unwrap();
    let shown: Vec<_> = surveyed
        .iter()
        .map(|one| (one.task.as_str(), one.item.severity, &one.standing))
        .collect();
    assert_eq!(
        shown,
        [
            ("made", Some(Severity::High), &Standing::Open),
            ("t", Some(Severity::Low), &Standing::Done),
        ]
    );
    assert!(fake.created.is_empty());
}

// rows: S-12
// cases: 113
#[test]
fn a_named_task_without_a_record_stays_so_and_one_that_is_being_made_gets_it() {
    let mut fake = Fake {
        violations: Audited(Ok(vec![
            violation(Some(Severity::High), "half made", None),
            violation(Some(Severity::Med), "no record", Some("bare")),
        ])),
        ..Fake::default()
    };
    fake.by_hand("half-made", false);
    fake.by_hand("bare", false);
    assert_eq!(next(&mut fake).as_deref(), Some("half-made"));
    assert!(fake.tasks["half-made"].record.is_some());
    fake.put("half-made", COMPLETE);
    assert_eq!(next(&mut fake).as_deref(), Some("bare"));
    assert!(fake.tasks["bare"].record.is_none());
}
