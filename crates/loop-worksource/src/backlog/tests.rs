//! Tests of the backlog source, in a project in memory.

use super::*;
use crate::fake::{Fake, view};
use loop_core::phase::{COMPLETE, HUMAN_INTERVENTION};
use proptest::prelude::*;
use std::collections::BTreeSet;

const FILE: &str = "design/loops/BACKLOG.md";

fn backlog() -> Backlog {
    with(|_| {})
}

fn with(change: impl FnOnce(&mut SourceOptions)) -> Backlog {
    let mut options = SourceOptions {
        area: Some("loops".to_owned()),
        ..SourceOptions::default()
    };
    change(&mut options);
    Backlog::new(&options).unwrap()
}

fn project(text: &str) -> Fake {
    let mut fake = Fake::default();
    write(&mut fake, text);
    fake
}

fn write(fake: &mut Fake, text: &str) {
    fake.files.insert(FILE.to_owned(), text.as_bytes().to_vec());
}

fn next(source: &Backlog, fake: &mut Fake) -> Option<(String, Item)> {
    match source.next(&view("l"), fake).unwrap() {
        Next::Found(found) => Some((found.task.name, found.item)),
        Next::Nothing(skip) => {
            assert_eq!(skip, Skip::NoWork);
            None
        }
    }
}

fn next_name(source: &Backlog, fake: &mut Fake) -> Option<String> {
    next(source, fake).map(|(name, _)| name)
}

/// Takes every item in turn, completing each without ticking it.
fn all_names(text: &str) -> Vec<String> {
    let mut fake = project(text);
    let mut names = Vec::new();
    while let Some(name) = next_name(&backlog(), &mut fake) {
        fake.put(&name, COMPLETE);
        names.push(name);
    }
    assert_eq!(fake.file(FILE), text, "picking edits nothing");
    names
}

// rows: S-20, S-21, S-22, S-24, S-25, S-28, S-30, Q-23
#[test]
fn picks_top_unchecked_item() {
    let text = "# Loops\n\n- [x] **old** done\n- [X] older\n\n```\n- [ ] **decoy**\n```\n\n\
                - [ ] **fix-login** needs work\n- [ ] Plain body text!\n";
    assert_eq!(all_names(text), ["fix-login", "plain-body-text"]);
}

// rows: S-26, S-27, Q-24
#[test]
fn skips_when_empty() {
    for text in ["", "\n", "- [x] done\n", "no list\n", "- [ ]\n", "- [ ] \n"] {
        assert_eq!(next_name(&backlog(), &mut project(text)), None, "{text:?}");
    }
    let mut missing = Fake::default();
    assert_eq!(next_name(&backlog(), &mut missing), None);
    assert!(missing.noted(Level::Warning, "design/loops/BACKLOG.md is missing"));
    let mut no_area = Fake::default();
    assert_eq!(next_name(&with(|o| o.area = None), &mut no_area), None);
    assert!(no_area.noted(Level::Warning, "work_source.area"));
}

// rows: S-20, S-27, Q-25
// cases: 150
#[test]
fn uses_area_path() {
    let mut fake = project("- [ ] here\n");
    fake.files.insert(
        "design/web/BACKLOG.md".to_owned(),
        b"- [ ] there\n".to_vec(),
    );
    let web = with(|options| options.area = Some("web".to_owned()));
    assert_eq!(next_name(&web, &mut fake).as_deref(), Some("there"));
    for area in ["..", "../x", "/etc", "a/../../b", "./", "a\0"] {
        let options = SourceOptions {
            area: Some(area.to_owned()),
            ..SourceOptions::default()
        };
        assert!(Backlog::new(&options).is_err(), "{area:?}");
    }
}

// rows: S-22, S-23, S-24, S-25
// cases: 76, 150
#[test]
fn names_come_from_bold_text_or_the_line() {
    for (line, name) in [
        ("**fix-login** more words", "fix-login"),
        ("**Fix Login Bug**", "fix-login-bug"),
        ("**add_goal_mode**", "add_goal_mode"),
        ("words **second** and **third**", "second"),
        ("__under__ it", "under"),
        ("**../../x** is a path", "x"),
        ("**`code` name**", "code-name"),
        ("Fix the login!", "fix-the-login"),
        ("[Fix](http://x/y) `this`", "fix-this"),
        ("first line\n  second **bold** line", "first-line"),
    ] {
        let names = all_names(&format!("- [ ] {line}\n"));
        assert_eq!(names, [name], "{line}");
    }
    let unicode = all_names(
        "- [ ] \u{417}\u{430}\u{434}\u{430}\u{447}\u{430} 1\n- [ ] \u{5d0}\u{5d1}\u{200d}\n- [ ] \u{1f680}\n",
    );
    assert_eq!(unicode.len(), 3);
    assert!(unicode[0].starts_with("1-"), "{unicode:?}");
}

// rows: S-25
// cases: 69, 71
#[test]
fn what_only_looks_like_a_box_is_none() {
    for text in [
        "```\n- [ ] x\n```\n",
        "~~~\n- [ ] x\n~~~\n",
        "````\n```\n- [ ] x\n```\n````\n",
        "```\n- [ ] x\n",
        "- item\n\n  ```\n  - [ ] x\n  ```\n",
        "    - [ ] x\n",
        "text\n\n\t- [ ] x\n",
        "<!--\n- [ ] x\n-->\n",
        "<!-- - [ ] x -->\n",
        "> - [ ] x\n",
        "- quoted\n  > - [ ] x\n",
        "- [2026-01-29] note\n",
        "- [link](x)\n",
        "- [ ](x)\n",
        "- [x](y) z\n",
        "- [a] foo\n",
        "- [ ]nospace\n",
        "[ ] no list\n",
        "- \\[ ] escaped\n",
    ] {
        assert_eq!(all_names(text), [""; 0], "{text:?}");
    }
    let open = [
        "- [ ] a\n",
        "* [ ] a\n",
        "+ [ ] a\n",
        "1. [ ] a\n",
        "7) [ ] a\n",
        "- - [ ] a\n",
    ];
    for text in open {
        assert_eq!(all_names(text), ["a"], "{text:?}");
    }
}

// cases: 74
#[test]
fn what_a_person_put_aside_is_not_open() {
    let text = "- [~] a\n- [!] b\n- [-] c\n  - [ ] below\n* [~]\td\n1. [!] e\n";
    assert_eq!(all_names(text), [""; 0]);
    let mut fake = project(text);
    let surveyed = backlog().survey(&view("l"), &mut fake).unwrap();
    let shown: Vec<_> = surveyed
        .iter()
        .map(|one| (one.item.title.as_str(), &one.standing))
        .collect();
    let parked = |mark| Standing::Parked {
        why: format!("marked [{mark}]"),
    };
    assert_eq!(
        shown,
        [
            ("a", &parked('~')),
            ("b", &parked('!')),
            ("c", &parked('-')),
            ("below", &parked('-')),
            ("d", &parked('~')),
            ("e", &parked('!')),
        ]
    );
}

// rows: S-21
// cases: 78
#[test]
fn children_come_before_their_parent_which_is_done_with_them() {
    let text = "- [ ] parent\n  - [x] one\n  - [ ] two\n    - [ ] three\n- [ ] after\n";
    assert_eq!(all_names(text), ["three", "after"]);

    let waiting = "- [ ] parent\n  - [ ] child\n  - [~] aside\n";
    let mut fake = project(waiting);
    let surveyed = backlog().survey(&view("l"), &mut fake).unwrap();
    assert_eq!(
        surveyed[0].standing,
        Standing::Waiting {
            on: "child".to_owned()
        }
    );
    write(&mut fake, "- [ ] parent\n  - [x] child\n  - [~] aside\n");
    let surveyed = backlog().survey(&view("l"), &mut fake).unwrap();
    assert_eq!(
        surveyed[0].standing,
        Standing::Waiting {
            on: "aside".to_owned()
        }
    );
    assert_eq!(next_name(&backlog(), &mut fake), None);
    write(&mut fake, "- [ ] parent\n  - [x] child\n");
    let surveyed = backlog().survey(&view("l"), &mut fake).unwrap();
    assert_eq!(surveyed[0].standing, Standing::Done);
    write(&mut fake, "- [x] parent\n  - [ ] child\n");
    assert_eq!(next_name(&backlog(), &mut fake).as_deref(), Some("child"));
}

// cases: 70, 76
#[test]
fn a_section_limits_what_counts() {
    let text = "- [ ] before\n# \u{41f}\u{43b}\u{430}\u{43d}\n- [ ] a\n## Sub\n- [ ] b\n\
                # Success criteria\n- [ ] c\n";
    assert_eq!(all_names(text).len(), 4, "the whole file by default");
    let section = |name: &str| {
        let source = with(|options| options.section = Some(name.to_owned()));
        let mut fake = project(text);
        let surveyed = source.survey(&view("l"), &mut fake).unwrap();
        let titles: Vec<_> = surveyed.into_iter().map(|one| one.item.title).collect();
        (titles, fake)
    };
    assert_eq!(section("\u{43f}\u{43b}\u{430}\u{43d}").0, ["a", "b"]);
    assert_eq!(section("Sub").0, ["b"]);
    let (titles, fake) = section("Nowhere");
    assert!(titles.is_empty() && fake.noted(Level::Warning, "no heading `Nowhere`"));
}

#[test]
fn an_item_says_where_it_stands_and_what_it_is_about() {
    let text = "# Plan\n\n- [x] old\n- [ ] **fix** the *login*\n  more text\n\n  - plain note\n\n      code\n- [ ] b\n";
    let (name, item) = next(&backlog(), &mut project(text)).unwrap();
    assert_eq!(name, "fix");
    assert_eq!(item.title, "fix the login");
    assert_eq!(item.body, "more text\n\n- plain note\n\n    code");
    assert_eq!(item.origin.file.as_deref(), Some(FILE));
    assert_eq!(item.origin.line, Some(4));
    assert_eq!(item.origin.id.as_deref(), Some(item.id.as_str()));
    assert_eq!(item.order, 1);
    assert_eq!(
        item.brief(),
        format!("# fix the login\n\n{}\n\nFrom: {FILE}\n", item.body)
    );
}

// cases: 9, 113
#[test]
fn parked_claimed_and_handed_over_items_are_passed_over() {
    let mut fake = project("- [ ] a\n- [ ] b\n- [ ] c\n- [ ] d\n");
    let source = backlog();
    let mut mine = view("l");
    assert_eq!(next_name(&source, &mut fake).as_deref(), Some("a"));
    assert_eq!(
        next_name(&source, &mut fake).as_deref(),
        Some("a"),
        "ours stays ours"
    );
    let Next::Found(theirs) = source.next(&view("other"), &mut fake).unwrap() else {
        panic!("b is free")
    };
    assert_eq!(theirs.task.name, "b");
    mine.parked
        .insert("a".to_owned(), loop_core::outcome::Halt::Blocked);
    let Next::Found(third) = source.next(&mine, &mut fake).unwrap() else {
        panic!("c is free")
    };
    assert_eq!(third.task.name, "c");
    fake.put("c", HUMAN_INTERVENTION);
    let surveyed = source.survey(&mine, &mut fake).unwrap();
    let standings: Vec<_> = surveyed.into_iter().map(|one| one.standing).collect();
    assert_eq!(
        standings,
        [
            Standing::Parked {
                why: "blocked".to_owned()
            },
            Standing::Claimed {
                by: "other".to_owned()
            },
            Standing::WithPerson,
            Standing::Open,
        ]
    );
}

// cases: 113
#[test]
fn an_item_that_is_snatched_between_look_and_claim_is_passed_over() {
    let mut fake = project("- [ ] a\n- [ ] b\n- [ ] c\n");
    fake.rival = Some("other".to_owned());
    assert_eq!(next_name(&backlog(), &mut fake).as_deref(), Some("b"));
    assert_eq!(fake.tasks["a"].claimed_by.as_deref(), Some("other"));
    fake.overtaken = Some("b".to_owned());
    assert_eq!(next_name(&backlog(), &mut fake).as_deref(), Some("c"));
}

#[test]
fn a_task_that_a_person_made_for_the_item_is_used() {
    let mut fake = project("- [ ] **fix**\n- [ ] **bare**\n");
    fake.by_hand("fix", true);
    fake.by_hand("bare", false);
    assert_eq!(next_name(&backlog(), &mut fake).as_deref(), Some("fix"));
    fake.put("fix", COMPLETE);
    assert!(fake.created.is_empty());
    assert_eq!(next_name(&backlog(), &mut fake).as_deref(), Some("bare"));
    assert!(fake.tasks["bare"].record.is_some(), "it is tracked now");
}

// cases: 113
#[test]
fn an_item_whose_task_another_loop_is_just_making_is_not_taken_without_its_record() {
    let mut fake = project("- [ ] a\n- [ ] b\n");
    fake.by_hand("a", false);
    fake.rival = Some("other".to_owned());
    assert_eq!(next_name(&backlog(), &mut fake).as_deref(), Some("b"));
    fake.put("a", COMPLETE);
    fake.put("b", COMPLETE);
    assert_eq!(next_name(&backlog(), &mut fake), None);
}

#[test]
fn items_of_one_name_are_tasks_of_their_own_whatever_moves_around_them() {
    let text = "# Login\n- [ ] Write tests\n# Search\n- [ ] Write tests\n";
    let names = all_names(text);
    assert_eq!(names[0], "write-tests");
    assert!(names[1].starts_with("write-tests-"), "{names:?}");

    let twins = all_names("- [ ] p\n  - [ ] x\n- [ ] p\n  - [ ] x\n  - [ ] x\n");
    let distinct: BTreeSet<_> = twins.iter().collect();
    assert_eq!((twins.len(), distinct.len()), (3, 3), "{twins:?}");

    let mut fake = project(text);
    assert_eq!(next_name(&backlog(), &mut fake), Some(names[0].clone()));
    fake.put(&names[0], COMPLETE);
    assert_eq!(next_name(&backlog(), &mut fake), Some(names[1].clone()));
    // The order is turned round, and the first is taken out.
    write(
        &mut fake,
        "# Search\n- [ ] Write tests\n# Login\n- [ ] Write tests\n",
    );
    assert_eq!(next_name(&backlog(), &mut fake), Some(names[1].clone()));
    write(&mut fake, "# Search\n- [ ] Write tests\n");
    assert_eq!(next_name(&backlog(), &mut fake), Some(names[1].clone()));
    // A third of the same name is new work, though the first is complete.
    write(&mut fake, "# Login\n- [x] Write tests\n- [ ] Write tests\n");
    let third = next_name(&backlog(), &mut fake).unwrap();
    assert!(!names.contains(&third));
}

#[test]
fn an_item_keeps_its_task_while_people_edit_the_file() {
    let mut fake = project("- [ ] **fix** a\n- [ ] b\n");
    assert_eq!(next_name(&backlog(), &mut fake).as_deref(), Some("fix"));
    for text in [
        "# New heading\n\ntext\n\n- [x] other\n- [ ] **fix** a\n",
        "- [ ] **fix** said in other words\n",
        "1. [ ] **fix** a\r\n",
        "# Sub\n- [ ] **fix** a\n- [ ] c\n",
    ] {
        write(&mut fake, text);
        assert_eq!(
            next_name(&backlog(), &mut fake).as_deref(),
            Some("fix"),
            "{text}"
        );
        assert_eq!(fake.tasks.len(), 1);
    }
    write(&mut fake, "- [ ] **fix** one\n- [ ] **fix** two\n");
    let error = backlog()
        .next(&view("l"), &mut fake)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("design/loops/BACKLOG.md:1: several items could be task `fix`"),
        "{error}"
    );
}

#[test]
fn old_words_of_a_complete_task_in_a_new_place_are_pointed_out() {
    let mut fake = project("# Login\n- [ ] Write tests\n");
    assert_eq!(
        next_name(&backlog(), &mut fake).as_deref(),
        Some("write-tests")
    );
    fake.put("write-tests", COMPLETE);
    assert_eq!(next_name(&backlog(), &mut fake), None);
    assert!(fake.notes.is_empty());
    write(&mut fake, "# Search\n- [ ] Write tests\n");
    assert_eq!(next_name(&backlog(), &mut fake), None);
    let text = "BACKLOG.md:2: task `write-tests` is complete, and its item changed";
    assert!(fake.noted(Level::Warning, text));
}

#[test]
fn the_same_words_in_another_area_are_another_task() {
    let mut fake = project("- [ ] Write tests\n");
    fake.files.insert(
        "design/web/BACKLOG.md".to_owned(),
        b"- [ ] Write tests\n".to_vec(),
    );
    let web = with(|options| options.area = Some("web".to_owned()));
    assert_eq!(
        next_name(&backlog(), &mut fake).as_deref(),
        Some("write-tests")
    );
    let other = next_name(&web, &mut fake).unwrap();
    assert!(other.starts_with("write-tests-"), "{other}");
}

// rows: S-30
// cases: 73
#[test]
fn ticking_changes_one_character() {
    for text in [
        "- [ ] a\n",
        "- [ ] a",
        "\u{feff}- [ ] a\r\n- [ ] b\n\r\n",
        "# \u{df}\r\n\r\n* [x] o\r\n* [ ] a \u{1f680}\r\n",
        "1. [ ] p\n   - [ ] a\n   - [x] c\n",
    ] {
        let mut fake = project(text);
        let (_, item) = next(&backlog(), &mut fake).unwrap();
        assert_eq!(
            backlog().finish(&item, &mut fake),
            Ok(Finish::Done),
            "{text:?}"
        );
        let ticked = fake.file(FILE).to_owned();
        let changed: Vec<_> = text
            .bytes()
            .zip(ticked.bytes())
            .filter(|(a, b)| a != b)
            .collect();
        assert_eq!(changed, [(b' ', b'x')], "{text:?}");
        assert_eq!(text.len(), ticked.len());
        assert_eq!(backlog().finish(&item, &mut fake), Ok(Finish::Before));
        assert_eq!(fake.file(FILE), ticked);
    }
}

#[test]
fn nothing_is_ticked_when_the_loop_does_not_want_it() {
    let source = with(|options| options.tick_when_done = false);
    let mut fake = project("- [ ] a\n");
    let (_, item) = next(&source, &mut fake).unwrap();
    assert_eq!(source.finish(&item, &mut fake), Ok(Finish::Nothing));
    assert_eq!(fake.file(FILE), "- [ ] a\n");
}

#[test]
fn the_box_is_found_again_after_other_edits() {
    let mut fake = project("- [ ] a\n  note\n- [ ] b\n");
    let (_, item) = next(&backlog(), &mut fake).unwrap();
    write(
        &mut fake,
        "- [ ] new\n\n# Moved\n- [ ] b\n- [ ] a\n  note\n",
    );
    assert_eq!(backlog().finish(&item, &mut fake), Ok(Finish::Done));
    assert_eq!(
        fake.file(FILE),
        "- [ ] new\n\n# Moved\n- [ ] b\n- [x] a\n  note\n"
    );
    write(&mut fake, "- [ ] a\n  note\n");
    fake.meddling = 2;
    assert_eq!(backlog().finish(&item, &mut fake), Ok(Finish::Done));
    assert_eq!(fake.file(FILE), "- [x] a\n  note\n\nmeddled\n\nmeddled\n");
}

#[test]
fn a_conflict_ticks_nothing() {
    let mut fake = project("- [ ] **fix** support OAuth\n- [ ] b\n");
    let (_, item) = next(&backlog(), &mut fake).unwrap();
    for text in [
        "- [ ] **fix** support SAML\n- [ ] b\n",
        "- [ ] b\n",
        "- [ ] **fix** support OAuth\n  and SAML\n",
        "- [ ] **fix** support OAuth\n  - [ ] and SAML\n",
        "- [~] **fix** support OAuth\n",
        "# A\n- [ ] **fix** support OAuth\n# B\n- [ ] **fix** support OAuth\n",
        "",
    ] {
        write(&mut fake, text);
        let finish = backlog().finish(&item, &mut fake).unwrap();
        assert!(
            matches!(finish, Finish::Conflict { .. }),
            "{text:?}: {finish:?}"
        );
        assert_eq!(fake.file(FILE), text);
    }
    fake.files.clear();
    let finish = backlog().finish(&item, &mut fake).unwrap();
    assert!(matches!(finish, Finish::Conflict { .. }));
}

// rows: S-19
#[test]
fn bytes_that_are_no_text_are_an_error_with_a_line() {
    let mut fake = Fake::default();
    fake.files
        .insert(FILE.to_owned(), b"- [ ] a\n- \xff\n".to_vec());
    let error = backlog()
        .next(&view("l"), &mut fake)
        .unwrap_err()
        .to_string();
    assert_eq!(error, "design/loops/BACKLOG.md:2: is not UTF-8");
}

#[test]
fn an_item_is_found_again_by_its_task() {
    let mut fake = project("- [ ] a\n- [ ] b\n");
    let (_, item) = next(&backlog(), &mut fake).unwrap();
    let found = backlog().find("a", &view("l"), &mut fake).unwrap();
    assert_eq!(found, Some(item));
    assert_eq!(backlog().find("z", &view("l"), &mut fake), Ok(None));
}

#[test]
fn ten_thousand_items_are_no_obstacle() {
    let mut text = String::new();
    for i in 0..5_000 {
        text.push_str(&format!("- [x] item number {i}\n- [ ] **t-{i}** more\n"));
    }
    assert_eq!(
        next_name(&backlog(), &mut project(&text)).as_deref(),
        Some("t-0")
    );
}

fn fragments() -> impl Strategy<Value = String> {
    let fragment = prop_oneof![
        Just("- [ ] ".to_owned()),
        Just("- [x] a\n".to_owned()),
        Just("- [~] a\n".to_owned()),
        Just("  ".to_owned()),
        Just("\n".to_owned()),
        Just("\r\n".to_owned()),
        Just("> ".to_owned()),
        Just("```\n".to_owned()),
        Just("1. ".to_owned()),
        Just("\t".to_owned()),
        Just("**".to_owned()),
        Just("# ".to_owned()),
        "[a-z\u{e9}\\[\\]*`#]{0,5}",
    ];
    prop::collection::vec(fragment, 0..24).prop_map(|parts| parts.concat())
}

proptest! {
    // rows: S-30
    // cases: 69, 73
    #[test]
    fn finishing_changes_one_byte_of_any_file(text in fragments(), bom in any::<bool>()) {
        let text = if bom { format!("\u{feff}{text}") } else { text };
        let mut fake = project(&text);
        let source = backlog();
        let mut rounds = 0;
        while let Some((name, item)) = next(&source, &mut fake) {
            let before = fake.file(FILE).to_owned();
            prop_assert_eq!(source.finish(&item, &mut fake), Ok(Finish::Done));
            let after = fake.file(FILE).to_owned();
            prop_assert_eq!(before.len(), after.len());
            let changed: Vec<_> =
                before.bytes().zip(after.bytes()).filter(|(a, b)| a != b).collect();
            prop_assert_eq!(changed, [(b' ', b'x')]);
            fake.put(&name, COMPLETE);
            rounds += 1;
            prop_assert!(rounds < 100, "each item is taken once");
        }
    }

    #[test]
    fn other_items_above_change_no_name(text in fragments(), lines in 0_usize..4) {
        let names = |text: &str| -> Vec<String> {
            let mut fake = project(text);
            let surveyed = backlog().survey(&view("l"), &mut fake).unwrap();
            surveyed.into_iter().map(|one| one.task).collect()
        };
        let above: String = (0..lines).map(|i| format!("- [x] above {i}\n")).collect();
        // A heading ends every list and paragraph before it.
        let plain = names(&format!("# h\n\n{text}"));
        let shifted = names(&format!("{above}\n# h\n\n{text}"));
        prop_assert_eq!(&shifted[lines..], &plain[..]);
    }
}
