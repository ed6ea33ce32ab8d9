//! The recipes of `templates/sources/`, against recorded output of their tools.

use super::*;
use crate::fake::{Fake, exited, view};

/// Makes the source of a recipe, as a loop's configuration would.
fn source(recipe: &str) -> Command {
    let recipe: serde_json::Value = serde_json::from_str(recipe).unwrap();
    assert_eq!(recipe["kind"], "command");
    let argv = |key: &str| {
        let list = recipe.get(key)?.as_array()?;
        let argv = list.iter().map(|arg| arg.as_str().unwrap().to_owned());
        Some(argv.collect::<Vec<_>>())
    };
    Command::new(&SourceOptions {
        command: argv("command").unwrap(),
        done_command: argv("done_command"),
        ..SourceOptions::default()
    })
    .unwrap()
}

/// Returns the first item and the names of all tasks, in order.
fn taken(source: &Command, fake: &mut Fake) -> (Item, Vec<String>) {
    let surveyed = source.survey(&view("l"), fake).unwrap();
    let names = surveyed.into_iter().map(|one| one.task).collect();
    match source.next(&view("l"), fake).unwrap() {
        Next::Found(found) => (found.item, names),
        Next::Nothing(skip) => panic!("{skip:?}"),
    }
}

fn printing(recorded: &str) -> Fake {
    Fake {
        output: Some(exited(0, recorded)),
        ..Fake::default()
    }
}

#[test]
fn open_issues_of_a_github_repository() {
    let source = source(include_str!(
        "../../../../templates/sources/github-issues/work_source.json"
    ));
    let mut fake = printing(include_str!("../../tests/recorded/gh-issue-list.json"));
    let (item, names) = taken(&source, &mut fake);
    assert_eq!(fake.programs[0].argv[..3], ["gh", "issue", "list"]);
    assert_eq!(item.id, "7", "the oldest issue comes first");
    assert_eq!(item.title, "\u{dc}bersetzung: \"Speichern\" & <Abbrechen>");
    let url = "https://github.com/example/app/issues/7";
    assert_eq!(item.origin.url.as_deref(), Some(url));
    assert!(
        names[0].starts_with("bersetzung-speichern-abbrechen-"),
        "{names:?}"
    );
    assert!(names[1].starts_with("login-fails-for-addresses-with-a-plus-sign-"));
    assert_eq!(source.finish(&item, &mut fake), Ok(Finish::Nothing));
}

#[test]
fn ready_issues_of_beads() {
    let source = source(include_str!(
        "../../../../templates/sources/beads/work_source.json"
    ));
    let mut fake = printing(include_str!("../../tests/recorded/bd-ready.json"));
    let (item, names) = taken(&source, &mut fake);
    assert_eq!(fake.programs[0].argv[..2], ["bd", "ready"]);
    assert_eq!(item.id, "app-9qz.1", "priority 0 comes before 2");
    assert!(
        names[0].starts_with("sessions-outlive-a-password-change-"),
        "{names:?}"
    );
    let surveyed = source.survey(&view("l"), &mut fake).unwrap();
    let second = &surveyed[1].item;
    assert_eq!(
        second.body,
        "Ten attempts a minute and address.\n\nLabels: backend"
    );
    assert_eq!(source.finish(&item, &mut fake), Ok(Finish::Done));
    let done = fake.programs.last().unwrap();
    assert_eq!(done.argv[..3], ["bd", "close", "app-9qz.1"]);
}
