//! Work sources on a real project folder.

#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

use loop_core::phase::Phases;
use loop_core::step::Advance;
use loop_core::time::Timestamp;
use loop_runner::tasks::{ProjectOnDisk, Tasks};
use loop_worksource::{
    Backlog, Command, Finish, Found, Level, LoopView, Next, Project, ProjectError, Ran, RunEnd,
    SourceError, SourceOptions, Standing, WorkSource, Written,
};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const FILE: &str = "design/plan/BACKLOG.md";

struct Fixture {
    dir: TempDir,
}

impl Fixture {
    fn new(backlog: &str) -> Self {
        let fixture = Self {
            dir: TempDir::new().unwrap(),
        };
        fixture.write(FILE, backlog);
        fixture
    }

    fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        fs::create_dir_all(self.path(path).parent().unwrap()).unwrap();
        fs::write(self.path(path), text).unwrap();
    }

    fn text(&self) -> String {
        fs::read_to_string(self.path(FILE)).unwrap()
    }

    fn tasks(&self) -> Tasks {
        Tasks::new(&self.path(".automaton"))
    }

    fn project(&self) -> ProjectOnDisk<'static> {
        self.project_at(self.dir.path())
    }

    fn project_at(&self, root: &Path) -> ProjectOnDisk<'static> {
        ProjectOnDisk::new(
            root,
            self.tasks(),
            Box::new(|program| {
                Err(ProjectError {
                    what: format!("{} is not run here", program.argv[0]),
                })
            }),
            Box::new(|| Ok(Vec::new())),
        )
    }
}

fn options() -> SourceOptions {
    SourceOptions {
        area: Some("plan".to_owned()),
        command: vec!["tracker".to_owned()],
        ..SourceOptions::default()
    }
}

fn backlog() -> Backlog {
    Backlog::new(&options()).unwrap()
}

fn view(name: &str) -> LoopView {
    LoopView {
        name: name.to_owned(),
        current_task: None,
        phases: Phases {
            list: vec!["implement".to_owned()],
            approval: Vec::new(),
        },
        parked: BTreeMap::new(),
        finished: BTreeSet::new(),
        at: Timestamp::default(),
    }
}

fn found(next: Result<Next, SourceError>) -> Option<Found> {
    match next.unwrap() {
        Next::Found(found) => Some(*found),
        Next::Nothing(_) => None,
    }
}

fn complete(fixture: &Fixture, task: &str) {
    let step = Advance {
        task: task.to_owned(),
        from: "implement".to_owned(),
        to: "complete".to_owned(),
        tick: Some(1),
        by: None,
    };
    fixture
        .tasks()
        .advance(&step, "l", Timestamp::default())
        .unwrap();
}

// rows: S-20, S-21, S-28, S-30
#[test]
fn a_backlog_is_worked_through_and_ticked() {
    let fixture = Fixture::new("- [ ] **one** first\n  Say more.\n- [ ] Two\n");
    let first = found(backlog().next(&view("l"), &mut fixture.project())).unwrap();
    assert_eq!(first.task.name, "one");
    assert_eq!(first.task.phase.as_deref(), Some("implement"));
    assert!(
        fixture.text().starts_with("- [ ] **one**"),
        "picking edits nothing"
    );
    let record = fixture.tasks().read("one").unwrap().unwrap();
    assert_eq!(record.origin, first.item.origin);
    let brief = fixture.tasks().brief("one").unwrap().unwrap();
    assert_eq!(brief, format!("# one first\n\nSay more.\n\nFrom: {FILE}\n"));

    complete(&fixture, "one");
    let second = found(backlog().next(&view("l"), &mut fixture.project())).unwrap();
    assert_eq!(
        second.task.name, "two",
        "a complete task is passed over, ticked or not"
    );
    let ticked = backlog().finish(&first.item, &mut fixture.project());
    assert_eq!(ticked, Ok(Finish::Done));
    assert_eq!(
        fixture.text(),
        "- [x] **one** first\n  Say more.\n- [ ] Two\n"
    );
    complete(&fixture, "two");
    assert_eq!(
        found(backlog().next(&view("l"), &mut fixture.project())),
        None
    );
}

#[test]
fn the_box_in_a_worktree_is_ticked_there_and_not_in_the_project() {
    let fixture = Fixture::new("- [ ] a\n");
    let worktree = Fixture::new("# Newer\n\n- [ ] a\n");
    let first = found(backlog().next(&view("l"), &mut fixture.project())).unwrap();
    let mut there = fixture.project_at(worktree.dir.path());
    let finish = backlog().finish(&first.item, &mut there).unwrap();
    assert!(matches!(finish, Finish::Done), "{finish:?}");
    assert_eq!(worktree.text(), "# Newer\n\n- [x] a\n");
    assert_eq!(fixture.text(), "- [ ] a\n");
}

#[test]
fn a_ticked_file_keeps_its_permissions_and_leaves_nothing_beside_it() {
    let fixture = Fixture::new("- [ ] a\n");
    let mode = fs::Permissions::from_mode(0o640);
    fs::set_permissions(fixture.path(FILE), mode).unwrap();
    let first = found(backlog().next(&view("l"), &mut fixture.project())).unwrap();
    backlog()
        .finish(&first.item, &mut fixture.project())
        .unwrap();
    let meta = fs::metadata(fixture.path(FILE)).unwrap();
    assert_eq!(meta.permissions().mode() & 0o777, 0o640);
    let beside = fs::read_dir(fixture.path("design/plan")).unwrap().count();
    assert_eq!(beside, 1);
}

// cases: 113
#[test]
fn loops_that_share_a_backlog_never_take_the_same_item() {
    let items: String = (0..12).map(|i| format!("- [ ] item {i}\n")).collect();
    let fixture = Fixture::new(&items);
    for i in 0..6 {
        fixture.write(&format!(".automaton/loops/l{i}/loop.json"), "{}");
    }
    let mut taken: Vec<String> = std::thread::scope(|scope| {
        let loops: Vec<_> = (0..6)
            .map(|i| {
                let fixture = &fixture;
                scope.spawn(move || {
                    let mut view = view(&format!("l{i}"));
                    let mut mine = Vec::new();
                    while let Some(next) = found(backlog().next(&view, &mut fixture.project())) {
                        put_aside(&mut view, &next.task.name);
                        mine.push(next.task.name);
                    }
                    mine
                })
            })
            .collect();
        loops
            .into_iter()
            .flat_map(|mine| mine.join().unwrap())
            .collect()
    });
    taken.sort();
    let mut all: Vec<_> = (0..12).map(|i| format!("item-{i}")).collect();
    all.sort();
    assert_eq!(taken, all);
}

// rows: K-02
// cases: 113
#[test]
fn a_folder_without_a_record_gets_one_and_keeps_what_a_person_wrote() {
    let fixture = Fixture::new("- [ ] one\n- [ ] two\n");
    fixture.write(".automaton/tasks/one/SPEC.md", "what a person wrote");
    fs::create_dir_all(fixture.path(".automaton/tasks/two")).unwrap();
    let mut mine = view("l");
    for (name, brief) in [("one", "what a person wrote"), ("two", "# two\n")] {
        let next = found(backlog().next(&mine, &mut fixture.project())).unwrap();
        assert_eq!(next.task.name, name);
        assert!(fixture.tasks().read(name).unwrap().is_some());
        let told = fixture.tasks().brief(name).unwrap().unwrap();
        assert!(told.starts_with(brief), "{told}");
        put_aside(&mut mine, name);
    }
}

/// Puts a task aside, so that the loop asks for another while it keeps this one.
fn put_aside(view: &mut LoopView, task: &str) {
    let halt = loop_core::outcome::Halt::Blocked;
    view.parked.insert(task.to_owned(), halt);
}

// rows: S-17
#[test]
fn another_projects_backlog_is_another_projects_work() {
    let mine = Fixture::new("- [ ] mine\n");
    let theirs = Fixture::new("- [ ] theirs\n");
    let next = found(backlog().next(&view("l"), &mut theirs.project())).unwrap();
    assert_eq!(next.task.name, "theirs");
    assert!(mine.tasks().list().unwrap().is_empty());
}

// cases: 150
#[test]
fn files_are_read_and_written_below_the_project_only() {
    let outside = Fixture::new("- [ ] secret\n");
    let fixture = Fixture::new("- [ ] a\n");
    let mut project = fixture.project();
    let absolute = outside.path(FILE).display().to_string();
    for path in ["../x", "/etc/passwd", "", ".", "a/../b", absolute.as_str()] {
        assert!(project.read(path).is_err(), "{path}");
        assert!(project.replace(path, b"", b"x").is_err(), "{path}");
    }
    symlink(outside.path("design"), fixture.path("linked")).unwrap();
    symlink(outside.path(FILE), fixture.path("link.md")).unwrap();
    for path in ["linked/plan/BACKLOG.md", "link.md"] {
        assert!(project.read(path).is_err(), "{path}");
        let replaced = project.replace(path, b"- [ ] secret\n", b"x");
        assert!(replaced.is_err(), "{path}");
    }
    assert_eq!(outside.text(), "- [ ] secret\n");
    assert_eq!(project.read("none/at/all.md"), Ok(None));
    let gone = project.replace("none/at/all.md", b"", b"x");
    assert_eq!(gone, Ok(Written::Changed));
}

// rows: S-19
#[test]
fn a_record_that_cannot_be_read_stops_the_source_and_names_the_place() {
    let fixture = Fixture::new("- [ ] a\n- [ ] b\n");
    fixture.write(".automaton/tasks/a/task.json", "{\n  oops");
    let error = backlog()
        .next(&view("l"), &mut fixture.project())
        .unwrap_err()
        .to_string();
    assert!(error.contains("tasks/a/task.json:2:3"), "{error}");
}

// cases: 9
#[test]
fn a_survey_says_what_is_open_and_what_is_put_aside() {
    let fixture = Fixture::new("- [ ] a\n- [ ] b\n- [~] c\n");
    let mut mine = view("l");
    found(backlog().next(&mine, &mut fixture.project())).unwrap();
    put_aside(&mut mine, "a");
    let surveyed = backlog().survey(&mine, &mut fixture.project()).unwrap();
    let standings: Vec<_> = surveyed.into_iter().map(|one| one.standing).collect();
    let parked = |why: &str| Standing::Parked {
        why: why.to_owned(),
    };
    assert_eq!(
        standings,
        [parked("blocked"), Standing::Open, parked("marked [~]")]
    );
}

#[test]
fn programs_are_run_by_whoever_made_the_project() {
    let fixture = Fixture::new("");
    let mut asked = Vec::new();
    let mut project = ProjectOnDisk::new(
        fixture.dir.path(),
        fixture.tasks(),
        Box::new(|program| {
            asked.push(program.argv.clone());
            Ok(Ran {
                end: RunEnd::Exited(0),
                stdout: br#"[{"id":"7","title":"Fix \u00fc"}]"#.to_vec(),
                truncated: false,
                stderr: String::new(),
            })
        }),
        Box::new(|| Ok(Vec::new())),
    );
    let source = Command::new(&options()).unwrap();
    let next = found(source.next(&view("l"), &mut project)).unwrap();
    project.note(Level::Info, "seen");
    assert_eq!(project.into_notes(), [(Level::Info, "seen".to_owned())]);
    assert_eq!(asked, [["tracker"]]);
    assert!(
        fixture
            .path(".automaton/tasks")
            .join(&next.task.name)
            .is_dir()
    );
}
