//! Rendering and writing a role's prompt.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod world;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use loop_prompts::{
    Fence, Job, PrepareError, PromptName, PromptWarning, Resolver, Role, Token, Values,
};
use world::{World, job, put};

// rows: P-01, P-07, P-08, P-14, P-15, P-17, P-18, P-19, Q-01
#[test]
fn resolve_prompt_substitutes_tokens() {
    let world = World::new();
    let source: String = Token::ALL
        .iter()
        .map(|t| format!("{}={t}\n", t.name()))
        .collect();
    put(world.in_loop("all.md"), &source);
    let mut values = Values::unrestricted();
    for token in Token::ALL {
        values.set(token, format!("<{}>", token.name()));
    }

    let prepared = world.prepare("all.md", &values);

    let expected: String = Token::ALL
        .iter()
        .map(|t| format!("{}=<{}>\n", t.name(), t.name()))
        .collect();
    assert_eq!(prepared.content, expected);
    let path = Path::new(&prepared.prompt);
    assert!(path.is_absolute() && path.ends_with("loops/L/outputs/tick1-implement-prompt.md"));
    assert_eq!(fs::read_to_string(path).unwrap(), expected);
    assert_eq!(prepared.file.as_deref(), Some(path));
    assert_eq!(prepared.source, Some(world.in_loop("all.md")));
    assert_eq!(prepared.warnings, []);
    assert_eq!(fs::read_to_string(world.in_loop("all.md")).unwrap(), source);
}

// rows: P-20, P-29, P-34, P-38
#[test]
fn bytes_are_kept() {
    let world = World::new();
    let mut values = Values::for_role(Role::Implement);
    values.set(Token::NextHint, "h");
    for (source, expected) in [
        ("no newline at the end", "no newline at the end"),
        ("a\r\n{next_hint}\r\n", "a\r\nh\r\n"),
        ("\u{feff}# title\n\n\n", "\u{feff}# title\n\n\n"),
        ("nul \0 stays", "nul \0 stays"),
        ("", ""),
    ] {
        put(world.in_loop("p.md"), source);
        let prepared = world.prepare("p.md", &values);
        assert_eq!(prepared.content, expected);
        assert_eq!(fs::read_to_string(&prepared.prompt).unwrap(), expected);
    }
    put(world.in_loop("p.md"), b"\xff{next_hint}");
    let prepared = world.prepare("p.md", &values);
    assert_eq!(prepared.content, "\u{fffd}h");
    let lossy = PromptWarning::InvalidUtf8 {
        path: world.in_loop("p.md"),
        offset: 0,
    };
    assert_eq!(prepared.warnings, [lossy]);
}

// rows: P-15, P-16, P-37
#[test]
fn every_call_has_a_file_of_its_own() {
    let world = World::new();
    put(world.in_loop("p.md"), "{current_task}");
    for role in Role::ALL {
        let mut values = Values::for_role(role);
        values.set(Token::CurrentTask, role.name());
        for name in [PromptName::new(1, role), PromptName::new(12, role)] {
            let prepared = world
                .resolver()
                .prepare(&Job {
                    name,
                    ..job("p.md", &values)
                })
                .unwrap();
            assert_eq!(fs::read_to_string(prepared.prompt).unwrap(), role.name());
        }
    }
    assert_eq!(
        world.outputs().unwrap(),
        [
            "tick1-implement-prompt.md",
            "tick1-orchestrate-prompt.md",
            "tick1-plan-prompt.md",
            "tick1-verify-prompt.md",
            "tick12-implement-prompt.md",
            "tick12-orchestrate-prompt.md",
            "tick12-plan-prompt.md",
            "tick12-verify-prompt.md",
        ]
    );
    let second = PromptName {
        call: 2,
        ..PromptName::new(7, Role::Verify)
    };
    assert_eq!(second.to_string(), "tick7-verify-2-prompt.md");
}

// rows: P-23, H-30; cases: 59; scenario 16
#[test]
fn values_are_inert() {
    let world = World::new();
    put(world.in_loop("p.md"), "{task_brief}|{{ next_hint }}");
    let mut values = Values::for_role(Role::Implement);
    let sentence = "please print {verdict} and {cwd} and {{next_hint}}";
    values
        .set(Token::TaskBrief, sentence)
        .set(Token::Cwd, "/w")
        .set(Token::NextHint, "{{cwd}}");
    assert_eq!(
        world.prepare("p.md", &values).content,
        format!("{sentence}|{{{{cwd}}}}")
    );
}

// rows: K-11..K-17; scenario 3; cases: 65
#[test]
fn long_values_are_cut_exactly() {
    let world = World::new();
    put(
        world.in_loop("p.md"),
        "{task_brief}|{acceptance_criteria}|{next_hint}",
    );
    let at_limit = ["é".repeat(16_000), "x".repeat(8_000), "y".repeat(4_000)];
    let content = |more: [&str; 3]| {
        let mut values = Values::for_role(Role::Implement);
        let tokens = [Token::TaskBrief, Token::AcceptanceCriteria, Token::NextHint];
        for ((token, text), more) in tokens.into_iter().zip(&at_limit).zip(more) {
            values.set(token, text.clone() + more);
        }
        world.prepare("p.md", &values).content
    };
    assert_eq!(content(["", "", ""]), at_limit.join("|"));
    let marked = at_limit.clone().map(|text| text + " ...[truncated]");
    assert_eq!(content(["é", "x", "y"]), marked.join("|"));
}

// rows: P-27, P-28, K-20, Q-29, Q-33, Q-34, P-44
#[test]
fn missing_tokens_leave_the_prompt_intact_and_empty_ones_do_not() {
    let world = World::new();
    put(
        world.in_loop("p.md"),
        "[{next_hint}] {verdict} {{ task_brief }} {fence} {current_phase}.",
    );
    let mut values = Values::for_role(Role::Orchestrate);
    values
        .set(Token::NextHint, "")
        .set(Token::TaskBrief, "brief");
    values.set(Token::Fence, Fence::PREVIEW.to_string());
    assert_eq!(
        world.prepare("p.md", &values).content,
        "[{next_hint}] {verdict} {{ task_brief }} 0000000000000000 ."
    );
    let mut values = Values::for_role(Role::Verify);
    values
        .set(Token::NextHint, "")
        .set(Token::TaskBrief, "brief");
    assert_eq!(
        world.prepare("p.md", &values).content,
        "[] {verdict} brief {fence} ."
    );
}

#[test]
fn an_addendum_stands_in_a_paragraph_of_its_own() {
    let world = World::new();
    let mut values = Values::for_role(Role::Verify);
    values.set(Token::Cwd, "/w");
    let content = |source: &str, prompt_ref: &str| {
        put(world.in_loop("p.md"), source);
        let asked = Job {
            addendum: Some("Answer with {cwd}."),
            ..job(prompt_ref, &values)
        };
        world.resolver().prepare(&asked).unwrap().content
    };
    assert_eq!(
        content("Judge {cwd}", "p.md"),
        "Judge /w\n\nAnswer with {cwd}.\n"
    );
    assert_eq!(content("Judge\n", "p.md"), "Judge\n\nAnswer with {cwd}.\n");
    assert_eq!(content("Judge\n", "missing.md"), "");
}

// cases: 64
#[test]
fn a_blank_or_very_long_prompt_is_remarked_on() {
    let world = World::new();
    let values = Values::for_role(Role::Implement);
    put(world.in_loop("p.md"), "\u{feff} \n\t\r\n");
    let blank = PromptWarning::Blank {
        prompt_ref: "p.md".into(),
    };
    assert_eq!(world.prepare("p.md", &values).warnings, [blank]);
    put(world.in_loop("p.md"), "x".repeat(64_000));
    assert_eq!(world.prepare("p.md", &values).warnings, []);
    put(world.in_loop("p.md"), "x".repeat(64_001));
    assert_eq!(
        world.prepare("p.md", &values).warnings,
        [PromptWarning::Long { chars: 64_001 }]
    );
}

// rows: P-33
#[test]
fn outputs_that_cannot_be_written_are_an_error() {
    let world = World::new();
    put(world.in_loop("p.md"), "text");
    put(world.in_loop("outputs"), "in the way");
    let values = Values::for_role(Role::Implement);
    let error = world.resolver().prepare(&job("p.md", &values)).unwrap_err();
    assert!(matches!(error, PrepareError::Outputs { .. }), "{error}");

    fs::remove_file(world.in_loop("outputs")).unwrap();
    fs::create_dir_all(world.in_loop("outputs/tick1-implement-prompt.md")).unwrap();
    let error = world.resolver().prepare(&job("p.md", &values)).unwrap_err();
    assert!(matches!(error, PrepareError::Write { .. }), "{error}");
    assert_eq!(
        world.outputs().unwrap(),
        ["tick1-implement-prompt.md"],
        "nothing left behind"
    );
}

#[test]
fn a_path_that_no_command_can_hold_is_an_error() {
    let world = World::new();
    let odd = world.in_loop("").join(OsStr::from_bytes(b"odd\xff"));
    fs::create_dir(&odd).unwrap();
    put(odd.join("p.md"), "text");
    let resolver = Resolver::new(&odd, world.dir.path());
    let error = resolver
        .prepare(&job("p.md", &Values::for_role(Role::Plan)))
        .unwrap_err();
    assert!(matches!(error, PrepareError::PathNotUtf8 { .. }), "{error}");
    assert!(!odd.join("outputs").exists());
}

// cases: 150
#[test]
fn a_link_in_the_way_is_replaced_and_not_followed() {
    let world = World::new();
    put(world.in_loop("p.md"), "text");
    let precious = world.dir.path().join("precious");
    put(&precious, "keep");
    fs::create_dir(world.in_loop("outputs")).unwrap();
    symlink(
        &precious,
        world.in_loop("outputs/tick1-implement-prompt.md"),
    )
    .unwrap();

    let prepared = world.prepare("p.md", &Values::for_role(Role::Implement));

    assert_eq!(fs::read_to_string(&precious).unwrap(), "keep");
    let metadata = fs::symlink_metadata(&prepared.prompt).unwrap();
    assert!(metadata.is_file());
    assert_eq!(
        metadata.permissions().mode() & 0o444,
        0o444 & !umask(&world)
    );
}

/// Reads the process's umask off a fresh file.
fn umask(world: &World) -> u32 {
    let probe = world.dir.path().join("umask");
    put(&probe, "");
    !fs::metadata(probe).unwrap().permissions().mode() & 0o666
}

#[test]
fn a_preview_writes_nothing() {
    let world = World::new();
    put(world.in_loop("p.md"), "in {cwd}");
    let mut values = Values::for_role(Role::Implement);
    values.set(Token::Cwd, "/w");
    let preview = world.resolver().preview(&job("p.md", &values));
    assert_eq!(
        (preview.prompt.as_str(), preview.content.as_str()),
        ("p.md", "in /w")
    );
    assert_eq!(world.outputs(), None);
}
