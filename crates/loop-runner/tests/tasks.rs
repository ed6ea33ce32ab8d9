//! The task tracker on a real file system.

#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

use loop_core::answer::Advanced;
use loop_core::phase::Phases;
use loop_core::step::Advance;
use loop_core::task::{Origin, Task};
use loop_core::time::Timestamp;
use loop_runner::tasks::{
    ChangeError, ClaimError, Claimed, CreateError, Kept, Mover, NewTask, ReadError, Tasks,
};
use proptest::prelude::*;
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

struct Fixture {
    dir: TempDir,
    tasks: Tasks,
}

impl Fixture {
    fn new() -> Self {
        let dir = TempDir::new().unwrap();
        let tasks = Tasks::new(dir.path());
        Self { dir, tasks }
    }

    fn with(names: &[&str]) -> Self {
        let fixture = Self::new();
        for name in names {
            fixture.tasks.create(&new(name)).unwrap();
        }
        fixture
    }

    /// Makes loops, as far as a claim looks at them.
    fn loops(&self, names: &[&str]) {
        for name in names {
            let folder = self.dir.path().join("loops").join(name);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("loop.json"), "{}").unwrap();
        }
    }

    fn file(&self, task: &str, name: &str) -> PathBuf {
        self.dir.path().join("tasks").join(task).join(name)
    }

    fn text(&self, task: &str, name: &str) -> String {
        fs::read_to_string(self.file(task, name)).unwrap()
    }

    fn task(&self, name: &str) -> Task {
        self.tasks.read(name).unwrap().expect("it has a record")
    }

    /// Writes files into a task's folder as a person would.
    fn by_hand(&self, task: &str, files: &[(&str, &str)]) {
        fs::create_dir_all(self.file(task, "")).unwrap();
        for (name, text) in files {
            fs::write(self.file(task, name), text).unwrap();
        }
    }
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_unix_millis(seconds * 1000)
}

fn new(name: &str) -> NewTask<'_> {
    NewTask {
        name,
        title: "A title",
        brief: None,
        phases: Phases::default(),
        origin: Origin::person(),
        at: at(1),
    }
}

fn ada() -> Mover<'static> {
    Mover {
        by: "ada",
        loop_name: None,
        at: at(9),
    }
}

fn step(from: &str, to: &str) -> Advance {
    Advance {
        task: "t".to_owned(),
        from: from.to_owned(),
        to: to.to_owned(),
        tick: Some(7),
        by: None,
    }
}

// rows: C-15, U-24
#[test]
fn a_created_task_has_a_folder_and_a_record() {
    let fixture = Fixture::new();
    let made = fixture.tasks.create(&new("fix-login")).unwrap();
    assert_eq!(made.phase, "research");
    assert_eq!(fixture.task("fix-login"), made);
    let json: serde_json::Value =
        serde_json::from_str(&fixture.text("fix-login", "task.json")).unwrap();
    assert_eq!(
        json,
        serde_json::json!({
            "v": 1, "name": "fix-login", "title": "A title", "phase": "research",
            "phases": ["research", "spec", "implement", "code_review", "bug_find"],
            "approval_phases": ["spec", "bug_find"],
            "origin": {"kind": "person"},
            "created_at": "1970-01-01T00:00:01.000Z",
            "updated_at": "1970-01-01T00:00:01.000Z",
            "history": []
        })
    );
}

// rows: C-15
#[test]
fn creating_an_existing_task_changes_nothing() {
    let fixture = Fixture::with(&["t"]);
    let before = fixture.text("t", "task.json");
    let again = NewTask {
        title: "Another",
        brief: Some("other"),
        ..new("t")
    };
    let error = fixture.tasks.create(&again).unwrap_err();
    assert!(matches!(error, CreateError::Exists { .. }), "{error}");
    assert_eq!(fixture.text("t", "task.json"), before);
    assert!(!fixture.file("t", "RESEARCH.md").exists());
}

#[test]
fn creating_gives_a_folder_made_by_hand_its_record_and_keeps_its_documents() {
    let fixture = Fixture::new();
    fixture.by_hand("t", &[("RESEARCH.md", "mine")]);
    let told = NewTask {
        brief: Some("theirs"),
        ..new("t")
    };
    fixture.tasks.create(&told).unwrap();
    assert_eq!(fixture.text("t", "RESEARCH.md"), "mine");
    assert_eq!(fixture.task("t").title, "A title");
}

// cases: 150
#[test]
fn a_name_from_outside_leads_nowhere_else() {
    let fixture = Fixture::new();
    for name in ["../x", "/etc/x", "..", "", "-x", "a/b", ".lock"] {
        assert!(fixture.tasks.create(&new(name)).is_err(), "{name}");
        assert!(fixture.tasks.read(name).is_err(), "{name}");
        assert!(fixture.tasks.path(name).is_err(), "{name}");
    }
    assert_eq!(fs::read_dir(fixture.dir.path()).unwrap().count(), 0);
}

// cases: 150
#[test]
fn links_in_the_place_of_folders_and_files_are_not_followed() {
    let fixture = Fixture::with(&["t"]);
    let outside = TempDir::new().unwrap();
    let secret = outside.path().join("secret");
    fs::write(&secret, "secret").unwrap();

    symlink(
        outside.path(),
        fixture.file("linked", "").parent().unwrap().join("linked"),
    )
    .unwrap();
    assert!(matches!(
        fixture.tasks.read("linked"),
        Err(ReadError::File(_))
    ));
    assert!(fixture.tasks.create(&new("linked")).is_err());

    symlink(&secret, fixture.file("t", "RESEARCH.md")).unwrap();
    assert!(fixture.tasks.brief("t").is_err());
    let kept = fixture
        .tasks
        .keep("t", "RESEARCH.md", &mut &b"x"[..])
        .unwrap();
    assert_eq!(kept, Kept::Before);

    fs::remove_file(fixture.file("t", "task.json")).unwrap();
    symlink(&secret, fixture.file("t", "task.json")).unwrap();
    assert!(fixture.tasks.read("t").is_err());
    assert!(fixture.tasks.transition("t", None, ada()).is_err());

    fs::remove_file(fixture.file("t", ".lock")).unwrap();
    symlink(&secret, fixture.file("t", ".lock")).unwrap();
    assert!(fixture.tasks.claim("t", "l", at(1)).is_err());
    assert_eq!(fs::read_to_string(&secret).unwrap(), "secret");
}

#[test]
fn a_pipe_in_the_place_of_a_record_is_an_error_and_no_wait() {
    let fixture = Fixture::new();
    fixture.by_hand("t", &[]);
    pipe(&fixture.file("t", "task.json"));
    assert!(matches!(fixture.tasks.read("t"), Err(ReadError::File(_))));
}

// rows: C-17
// cases: 79
#[test]
fn a_record_that_cannot_be_read_is_named_with_its_place_and_never_taken_for_none() {
    let fixture = Fixture::new();
    let whole = {
        fixture.tasks.create(&new("whole")).unwrap();
        fixture.text("whole", "task.json").replace("whole", "t")
    };
    let torn = &whole[..whole.len() / 2];
    let twice = whole.replacen("\"v\": 1,", "\"v\": 1,\n  \"v\": 1,", 1);
    for (text, place) in [
        ("{\n  \"v\": 1,\n  oops\n}", ":3:3: "),
        (torn, ": EOF while parsing"),
        (&twice, ": duplicate field `v`"),
        (&whole.replace("\"v\": 1", "\"v\": 2"), "`v` is 2"),
        (
            &whole.replace("\"name\": \"t\"", "\"name\": \"u\""),
            "`name` is `u`",
        ),
        (&whole.replace("\"phases\": [", "\"phases\": [7,"), ":6:"),
        ("", ":1:0: EOF"),
    ] {
        fixture.by_hand("t", &[("task.json", text)]);
        let error = fixture.tasks.read("t").unwrap_err();
        assert!(matches!(error, ReadError::Record { .. }), "{error}");
        let shown = error.to_string();
        assert!(
            shown.contains("t/task.json:") && shown.contains(place),
            "{shown}"
        );
        assert!(fixture.tasks.create(&new("t")).is_err(), "{shown}");
        assert!(fixture.tasks.transition("t", None, ada()).is_err());
        assert_eq!(fixture.text("t", "task.json"), text);
    }
}

// rows: C-17, P-36
#[test]
fn a_missing_task_and_one_without_a_record_are_two_things() {
    let fixture = Fixture::with(&["t"]);
    fixture.by_hand("bare", &[("SPEC.md", "x")]);
    assert!(matches!(
        fixture.tasks.read("none"),
        Err(ReadError::Missing { .. })
    ));
    assert_eq!(fixture.tasks.read("bare").unwrap(), None);
    assert!(matches!(
        fixture.tasks.transition("bare", None, ada()),
        Err(ChangeError::Untracked { .. })
    ));
    assert_eq!(
        fixture
            .tasks
            .adopt("bare", &Phases::default(), at(1))
            .unwrap(),
        None
    );
    assert!(!fixture.file("none", "").exists());
}

// rows: AU-08, AU-13
#[test]
fn listing_is_sorted_and_shows_what_cannot_be_read() {
    let fixture = Fixture::new();
    assert!(fixture.tasks.list().unwrap().is_empty());
    for name in ["b", "a"] {
        fixture.tasks.create(&new(name)).unwrap();
    }
    fixture.by_hand("c-bare", &[]);
    fixture.by_hand("d-broken", &[("task.json", "{")]);
    fixture.by_hand("e with spaces", &[]);
    fixture.by_hand(".hidden", &[]);
    fs::write(fixture.dir.path().join("tasks/file"), "").unwrap();
    let shown: Vec<_> = fixture
        .tasks
        .list()
        .unwrap()
        .into_iter()
        .map(|listed| {
            let word = match listed.record {
                Ok(Some(_)) => "record",
                Ok(None) => "bare",
                Err(_) => "error",
            };
            (listed.name, word)
        })
        .collect();
    let expected = [
        ("a", "record"),
        ("b", "record"),
        ("c-bare", "bare"),
        ("d-broken", "error"),
        ("e with spaces", "error"),
    ];
    assert_eq!(shown, expected.map(|(name, word)| (name.to_owned(), word)));
}

// rows: B-07
#[test]
fn a_loops_move_is_compared_set_and_recorded_once() {
    let fixture = Fixture::with(&["t"]);
    let tasks = &fixture.tasks;
    let moved = tasks
        .advance(&step("research", "spec"), "l", at(5))
        .unwrap();
    assert_eq!(moved, Advanced::Moved);
    let once = fixture.text("t", "task.json");
    let moved = tasks
        .advance(&step("research", "spec"), "l", at(6))
        .unwrap();
    assert_eq!(moved, Advanced::Moved);
    assert_eq!(fixture.text("t", "task.json"), once);
    let history = fixture.task("t").history;
    assert_eq!(history.len(), 1);
    assert_eq!(history[0].by, "loop");
    assert_eq!(history[0].loop_name.as_deref(), Some("l"));
    assert_eq!(history[0].tick, Some(7));
}

#[test]
fn a_move_from_elsewhere_or_of_an_unreadable_task_is_a_conflict() {
    let fixture = Fixture::with(&["t"]);
    let conflict = |what: &str| {
        let answer = fixture
            .tasks
            .advance(&step("implement", "code_review"), "l", at(5));
        match answer.unwrap() {
            Advanced::Conflict { what: said } => assert!(said.contains(what), "{said}"),
            Advanced::Moved => panic!("it moved"),
        }
    };
    conflict("in phase `research`, not in `implement`");
    fs::write(fixture.file("t", "task.json"), "{").unwrap();
    conflict("task.json:1:1");
    fs::remove_file(fixture.file("t", "task.json")).unwrap();
    conflict("has no record");
    fs::remove_dir_all(fixture.file("t", "")).unwrap();
    conflict("there is no task `t`");
}

// rows: C-14, U-25
#[test]
fn a_person_moves_a_task_one_phase_or_to_a_person() {
    let fixture = Fixture::with(&["t"]);
    let tasks = &fixture.tasks;
    let moved = tasks.transition("t", None, ada()).unwrap();
    assert_eq!(moved.phase, "spec");
    assert_eq!(moved.history[0].by, "ada");
    assert_eq!(moved.history[0].at, at(9));
    let refused = tasks.transition("t", Some("bug_find"), ada());
    assert!(matches!(refused, Err(ChangeError::Move(_))));
    let refused = tasks.transition("t", None, ada()).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "leaving phase `spec` needs a person's approval"
    );
    let moved = tasks
        .transition("t", Some("human_intervention"), ada())
        .unwrap();
    assert_eq!(moved.previous_phase.as_deref(), Some("spec"));
    assert!(tasks.transition("t", None, ada()).is_err());
    assert_eq!(fixture.task("t"), moved);
}

// rows: C-16, U-23, U-27
#[test]
fn approval_leads_back_from_a_person_and_out_of_a_gated_phase() {
    let fixture = Fixture::with(&["t"]);
    let tasks = &fixture.tasks;
    let refused = tasks.approve("t", ada());
    assert!(matches!(refused, Err(ChangeError::NotWaiting { .. })));
    tasks.transition("t", None, ada()).unwrap();
    tasks
        .transition("t", Some("human_intervention"), ada())
        .unwrap();
    assert_eq!(tasks.approve("t", ada()).unwrap().phase, "spec");
    let approved = tasks.approve("t", ada()).unwrap();
    assert_eq!(approved.phase, "implement");
    let last = approved.history.last().unwrap();
    assert_eq!(
        (last.from.as_str(), last.by.as_str(), last.at),
        ("spec", "ada", at(9))
    );
    assert!(tasks.approve("t", ada()).is_err());
}

#[test]
fn a_task_that_has_not_moved_takes_a_loops_phases() {
    let fixture = Fixture::with(&["t"]);
    let phases = Phases {
        list: vec!["implement".to_owned()],
        approval: vec![],
    };
    let adopted = fixture.tasks.adopt("t", &phases, at(2)).unwrap().unwrap();
    assert_eq!(adopted.phase, "implement");
    assert_eq!(fixture.task("t"), adopted);
    let done = fixture.tasks.transition("t", None, ada()).unwrap();
    assert_eq!(done.phase, "complete");
    let kept = fixture.tasks.adopt("t", &Phases::default(), at(3)).unwrap();
    assert_eq!(kept, Some(done));
}

// cases: 113
#[test]
fn of_many_loops_one_gets_the_task() {
    let fixture = Fixture::with(&["t"]);
    fixture.loops(&["l0", "l1", "l2", "l3", "l4", "l5", "l6", "l7"]);
    let got: usize = std::thread::scope(|scope| {
        let asked: Vec<_> = (0..8)
            .map(|i| {
                let tasks = &fixture.tasks;
                scope.spawn(move || tasks.claim("t", &format!("l{i}"), at(i)).unwrap())
            })
            .collect();
        asked
            .into_iter()
            .map(|asked| usize::from(matches!(asked.join().unwrap(), Claimed::Ours(_))))
            .sum()
    });
    assert_eq!(got, 1);
}

// cases: 113
#[test]
fn a_claim_is_its_loops_until_it_is_given_back_or_the_task_is_complete() {
    let fixture = Fixture::with(&["t"]);
    fixture.loops(&["a", "b"]);
    let tasks = &fixture.tasks;
    assert_eq!(tasks.claimed("t").unwrap(), None);
    let Claimed::Ours(claim) = tasks.claim("t", "a", at(1)).unwrap() else {
        panic!("nobody else asked")
    };
    let home = fixture.dir.path().join("loops/a");
    assert_eq!(
        fixture.text("t", ".claim"),
        format!(
            r#"{{"loop":"a","since":"1970-01-01T00:00:01.000Z","home":"{}"}}"#,
            home.display()
        )
    );
    assert_eq!(
        tasks.claim("t", "a", at(5)).unwrap(),
        Claimed::Ours(claim.clone())
    );
    assert_eq!(
        tasks.claim("t", "b", at(5)).unwrap(),
        Claimed::Theirs(claim.clone())
    );
    tasks.release("t", "b").unwrap();
    assert_eq!(tasks.claimed("t").unwrap(), Some(claim));
    tasks.release("t", "a").unwrap();
    assert!(matches!(
        tasks.claim("t", "b", at(6)).unwrap(),
        Claimed::Ours(_)
    ));

    let phases = Phases {
        list: vec!["implement".to_owned()],
        approval: vec![],
    };
    tasks.adopt("t", &phases, at(7)).unwrap();
    tasks
        .advance(&step("implement", "complete"), "b", at(8))
        .unwrap();
    assert_eq!(tasks.claimed("t").unwrap(), None);
}

// cases: 113
#[test]
fn the_claim_of_a_loop_that_is_gone_is_taken_over() {
    let away = Fixture::new();
    away.loops(&["far"]);
    let fixture = Fixture::with(&["t"]);
    fixture.loops(&["a", "near"]);
    let place = |fixture: &Fixture, name: &str| {
        let path = fixture.dir.path().join("loops").join(name);
        path.display().to_string()
    };
    let empty = fixture.dir.path().join("loops/empty");
    fs::create_dir_all(&empty).unwrap();
    for (name, home, holds) in [
        ("ghost", None, false),
        ("ghost", Some("/".to_owned()), false),
        ("ghost", Some("loops/ghost".to_owned()), false),
        ("ghost", Some(place(&fixture, "near")), false),
        ("../loops/near", None, false),
        ("", None, false),
        ("empty", Some(place(&fixture, "empty")), false),
        ("near", None, true),
        ("near", Some("/moved/loops/near".to_owned()), true),
        ("far", None, false),
        ("far", Some(place(&away, "far")), true),
    ] {
        let since = "2026-01-01T00:00:00.000Z";
        let text =
            serde_json::json!({"loop": name, "since": since, "home": home, "later": 1}).to_string();
        fixture.by_hand("t", &[(".claim", &text)]);
        let held = fixture.tasks.claimed("t").unwrap();
        assert_eq!(held.is_some(), holds, "{text}");
        match fixture.tasks.claim("t", "a", at(1)).unwrap() {
            Claimed::Theirs(_) => assert!(holds, "{text}"),
            Claimed::TakenOver(was) => {
                assert!(!holds && was.loop_name == name, "{text}");
                let now = fixture.tasks.claimed("t").unwrap().unwrap();
                assert_eq!((now.loop_name.as_str(), now.since), ("a", at(1)));
            }
            Claimed::Ours(_) => panic!("{text}"),
        }
    }
}

#[test]
fn a_claim_that_says_nothing_gives_the_task_to_nobody() {
    let fixture = Fixture::with(&["t"]);
    fixture.by_hand("t", &[(".claim", "")]);
    let asked = fixture.tasks.claim("t", "a", at(1));
    assert!(matches!(asked, Err(ClaimError::Unreadable { .. })));
}

#[test]
fn a_report_is_kept_and_never_overwrites() {
    let fixture = Fixture::with(&["t"]);
    let output = fixture.dir.path().join("out.md");
    fs::write(&output, b"first \xff").unwrap();
    let keep = || fixture.tasks.keep_report("t", "SPEC.md", &output).unwrap();
    assert_eq!(keep(), Kept::Now);
    fs::write(&output, "second").unwrap();
    assert_eq!(keep(), Kept::Before);
    assert_eq!(
        fs::read(fixture.file("t", "SPEC.md")).unwrap(),
        b"first \xff"
    );
    assert!(fixture.tasks.keep_report("t", "../x", &output).is_err());
    assert!(
        fixture
            .tasks
            .keep_report("t", "X.md", &fixture.dir.path().join("none"))
            .is_err()
    );
    assert_eq!(fixture.tasks.documents("t").unwrap(), ["SPEC.md"]);
}

#[test]
fn a_report_is_kept_only_from_a_file_of_its_own() {
    let fixture = Fixture::with(&["t"]);
    let output = fixture.dir.path().join("out.md");
    let secret = fixture.dir.path().join("secret");
    fs::write(&secret, "secret").unwrap();
    type Plant = fn(&Path, &Path);
    let planted: [(&str, Plant); 4] = [
        ("is a link", |secret, output| {
            symlink(secret, output).unwrap();
        }),
        ("another name", |secret, output| {
            fs::hard_link(secret, output).unwrap();
        }),
        ("not a regular file", |_, output| pipe(output)),
        ("more than 16 MiB", |_, output| {
            File::create(output)
                .unwrap()
                .set_len((16 << 20) + 1)
                .unwrap();
        }),
    ];
    for (what, plant) in planted {
        plant(&secret, &output);
        let error = fixture
            .tasks
            .keep_report("t", "IMPLEMENTATION.md", &output)
            .unwrap_err();
        assert!(error.to_string().contains(what), "{error}");
        assert_eq!(fixture.tasks.documents("t").unwrap(), [""; 0]);
        fs::remove_file(&output).unwrap();
    }
}

fn pipe(path: &Path) {
    let kind = rustix::fs::FileType::Fifo;
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, path, kind, mode, 0).unwrap();
}

// rows: K-01, K-02, Q-26
#[test]
fn the_brief_is_research_then_spec_then_none() {
    let fixture = Fixture::with(&["t"]);
    let brief = || fixture.tasks.brief("t").unwrap();
    assert_eq!(brief(), None);
    fixture.by_hand("t", &[("SPEC.md", "spec")]);
    assert_eq!(brief().as_deref(), Some("spec"));
    fixture.by_hand("t", &[("RESEARCH.md", "research")]);
    assert_eq!(brief().as_deref(), Some("research"));
    fs::write(fixture.file("t", "RESEARCH.md"), b"a\xffb").unwrap();
    assert_eq!(brief().as_deref(), Some("a\u{fffd}b"));
    fixture.by_hand("t", &[("RESEARCH.md", &"\u{1f6e1}".repeat(200_000))]);
    let long = brief().unwrap();
    assert!(long.chars().count() > 16_000 && long.len() < 200_000);
}

#[test]
fn what_a_crash_left_behind_is_no_obstacle() {
    let fixture = Fixture::with(&["t"]);
    fixture.by_hand("t", &[(".task.json.new", "half"), (".SPEC.md.new", "half")]);
    fixture.tasks.transition("t", None, ada()).unwrap();
    assert_eq!(fixture.task("t").phase, "spec");
    fixture
        .tasks
        .keep("t", "SPEC.md", &mut &b"whole"[..])
        .unwrap();
    assert_eq!(fixture.text("t", "SPEC.md"), "whole");
    assert!(!fixture.file("t", ".task.json.new").exists());
}

/// One call of the tracker.
#[derive(Clone, Debug)]
enum Call {
    Next,
    ToPerson,
    Approve,
    Advance(usize, usize),
}

fn calls() -> impl Strategy<Value = Vec<Call>> {
    let call = prop_oneof![
        Just(Call::Next),
        Just(Call::ToPerson),
        Just(Call::Approve),
        (0..PHASES.len(), 0..PHASES.len()).prop_map(|(from, to)| Call::Advance(from, to)),
    ];
    prop::collection::vec(call, 0..10)
}

const PHASES: [&str; 7] = [
    "research",
    "spec",
    "implement",
    "code_review",
    "bug_find",
    "complete",
    "human_intervention",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    // rows: C-14, C-16
    #[test]
    fn whatever_is_asked_the_record_is_whole_and_its_history_explains_its_phase(calls in calls()) {
        let fixture = Fixture::with(&["t"]);
        for call in calls {
            let before = fixture.task("t");
            let changed = match &call {
                Call::Next => fixture.tasks.transition("t", None, ada()).is_ok(),
                Call::ToPerson => {
                    fixture.tasks.transition("t", Some("human_intervention"), ada()).is_ok()
                }
                Call::Approve => fixture.tasks.approve("t", ada()).is_ok(),
                Call::Advance(from, to) => {
                    let step = step(PHASES[*from], PHASES[*to]);
                    fixture.tasks.advance(&step, "l", at(2)).unwrap() == Advanced::Moved
                }
            };
            let after = fixture.task("t");
            prop_assert!(changed || after == before, "a refused {call:?} changed something");
            let grown = after.history.len() - before.history.len();
            prop_assert!(grown <= 1);
            prop_assert_eq!(&after.history[..before.history.len()], &before.history[..]);
            let mut phase = "research";
            for step in &after.history {
                prop_assert_eq!(&step.from, phase);
                phase = &step.to;
            }
            prop_assert_eq!(phase, &after.phase);
        }
    }
}
