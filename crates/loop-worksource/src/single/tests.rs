//! Tests of the single source, in a project in memory.

use super::*;
use crate::fake::{Fake, view};
use crate::source::to_work;
use loop_core::Work;
use loop_core::phase::{COMPLETE, HUMAN_INTERVENTION};

fn on(task: &str) -> LoopView {
    LoopView {
        current_task: Some(task.to_owned()),
        ..view("l")
    }
}

fn work(source: &Single, view: &LoopView, fake: &mut Fake) -> Work {
    to_work(&source.next(view, fake))
}

fn task(work: Work) -> (String, Option<String>) {
    match work {
        Work::Found(task) => (task.name, task.phase),
        other => panic!("{other:?}"),
    }
}

// rows: S-01, S-05, U-49, Q-16
#[test]
fn single_work_source() {
    let mut fake = Fake::default();
    fake.by_hand("t", true);
    fake.by_hand("u", true);
    let found = work(&Single::default(), &on("t"), &mut fake);
    assert_eq!(task(found), ("t".to_owned(), Some("research".to_owned())));
    let configured = Single {
        task: Some("u".to_owned()),
    };
    assert_eq!(
        task(work(&configured, &on("t"), &mut fake)).0,
        "t",
        "the state wins"
    );
    assert_eq!(task(work(&configured, &view("l"), &mut fake)).0, "u");
    assert_eq!(fake.tasks["u"].claimed_by.as_deref(), Some("l"));
}

// rows: S-06
#[test]
fn without_a_task_or_with_a_complete_one_there_is_no_current_task() {
    let none = Work::Nothing(Skip::NoCurrentTask);
    let mut fake = Fake::default();
    assert_eq!(work(&Single::default(), &view("l"), &mut fake), none);
    fake.by_hand("t", true);
    fake.put("t", COMPLETE);
    assert_eq!(work(&Single::default(), &on("t"), &mut fake), none);
}

// rows: U-17
#[test]
fn a_task_with_a_person_is_skipped() {
    let mut fake = Fake::default();
    fake.by_hand("t", true);
    fake.put("t", HUMAN_INTERVENTION);
    let skip = Skip::HumanIntervention(Halt::Escalated);
    assert_eq!(
        work(&Single::default(), &on("t"), &mut fake),
        Work::Nothing(skip)
    );
}

// rows: S-19
#[test]
fn a_task_that_does_not_exist_is_a_failure_with_the_mend() {
    let what = "there is no task `t`; `loop task create t` makes it".to_owned();
    assert_eq!(
        work(&Single::default(), &on("t"), &mut Fake::default()),
        Work::Failed { what }
    );
}

// rows: P-36
#[test]
fn a_task_without_a_record_is_worked_on_until_it_is_finished() {
    let mut fake = Fake::default();
    fake.by_hand("t", false);
    assert_eq!(
        task(work(&Single::default(), &on("t"), &mut fake)),
        ("t".to_owned(), None)
    );
    let configured = Single {
        task: Some("t".to_owned()),
    };
    let mut after = view("l");
    after.finished.insert("t".to_owned());
    assert_eq!(
        work(&configured, &after, &mut fake),
        Work::Nothing(Skip::NoCurrentTask)
    );
    after.current_task = Some("t".to_owned());
    assert_eq!(
        task(work(&configured, &after, &mut fake)).0,
        "t",
        "a person gave it again"
    );
}

// cases: 113
#[test]
fn a_task_of_another_loop_is_left_alone() {
    let mut fake = Fake::default();
    fake.by_hand("t", true);
    assert_eq!(task(work(&Single::default(), &on("t"), &mut fake)).0, "t");
    let mut other = on("t");
    other.name = "other".to_owned();
    let nothing = work(&Single::default(), &other, &mut fake);
    assert_eq!(nothing, Work::Nothing(Skip::NoWork));
    assert!(fake.noted(Level::Warning, "loop l works on task t"));
}
