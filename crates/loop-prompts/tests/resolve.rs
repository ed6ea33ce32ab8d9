//! Finding and reading prompts and artifacts.

mod world;

use std::fs;
use std::os::unix::fs::symlink;

use loop_prompts::{
    Job, PROMPT_LIMIT, PromptWarning, ReadFault, Role, Severity, Token, Values, criteria_list,
};
use world::{World, job, put};

// rows: P-11, P-12, P-13, P-34, K-18, Q-02
#[test]
fn resolve_prompt_reads_artifact_content() {
    let world = World::new();
    put(world.in_loop("ver.md"), "<{artifact_content}>");
    let artifact = world.in_loop("out.md");
    let render = |role| {
        let mut values = Values::for_role(role);
        let warning = values.set_artifact(&artifact);
        (world.prepare("ver.md", &values).content, warning)
    };

    assert_eq!(render(Role::Verify), ("<>".into(), None));
    put(&artifact, "hello");
    assert_eq!(render(Role::Verify), ("<hello>".into(), None));
    assert_eq!(render(Role::Implement), ("<>".into(), None));
    put(&artifact, b"a\xffb");
    let lossy = PromptWarning::InvalidUtf8 {
        path: artifact.clone(),
        offset: 1,
    };
    assert_eq!(render(Role::Verify), ("<a\u{fffd}b>".into(), Some(lossy)));
    put(&artifact, "x".repeat(200_000));
    assert_eq!(render(Role::Verify).0.len(), 200_002);
    fs::remove_file(&artifact).unwrap();
    fs::create_dir(&artifact).unwrap();
    let why = ReadFault::NotAFile;
    let refused = PromptWarning::ValueUnreadable {
        token: Token::ArtifactContent,
        path: artifact.clone(),
        why,
    };
    assert_eq!(render(Role::Verify), ("<>".into(), Some(refused)));
}

// rows: P-05, H-11, H-12, H-13, Q-03; scenario 17
#[test]
fn resolve_prompt_fallback_when_file_missing() {
    let world = World::new();
    let prepared = world.prepare("no-such.md", &Values::for_role(Role::Implement));

    assert_eq!(
        (prepared.prompt.as_str(), prepared.content.as_str()),
        ("no-such.md", "")
    );
    assert_eq!(world.outputs(), None);
    let [warning] = prepared.warnings.as_slice() else {
        panic!("{:?}", prepared.warnings)
    };
    assert_eq!(warning.severity(), Severity::Warning);
    assert!(
        warning
            .to_string()
            .starts_with("prompt `no-such.md` not found"),
        "{warning}"
    );
}

// rows: A-33, P-05
#[test]
fn a_shipped_prompt_is_not_found_where_nobody_put_it() {
    let world = World::new();
    for shipped in loop_prompts::builtin() {
        let prepared = world.prepare(shipped.file_name, &Values::for_role(Role::Implement));
        assert_eq!(prepared.prompt, shipped.file_name);
        assert_eq!(prepared.content, "");
    }
}

// rows: P-02, P-03, P-04, P-30, P-31, Q-04; scenario 17
#[test]
fn resolve_prompt_searches_loop_dir_then_framework() {
    let world = World::new();
    let values = Values::for_role(Role::Implement);
    let content = |prompt_ref: &str| world.prepare(prompt_ref, &values).content;

    put(world.in_home("x.md"), "framework");
    assert_eq!(content("x.md"), "framework");
    fs::create_dir(world.in_loop("x.md")).unwrap();
    let passed = world.prepare("x.md", &values);
    assert_eq!(passed.content, "framework");
    let why = ReadFault::NotAFile;
    assert_eq!(
        passed.warnings,
        [PromptWarning::PassedOver {
            path: world.in_loop("x.md"),
            why
        }]
    );
    fs::remove_dir(world.in_loop("x.md")).unwrap();
    put(world.in_loop("x.md"), "loop");
    assert_eq!(content("x.md"), "loop");

    fs::create_dir(world.in_loop("sub")).unwrap();
    put(world.in_loop("sub/p.md"), "below");
    assert_eq!(content("sub/p.md"), "below");
    let absolute = world.dir.path().join("abs.md");
    put(&absolute, "absolute");
    assert_eq!(content(absolute.to_str().unwrap()), "absolute");
    fs::remove_file(&absolute).unwrap();
    let gone = world.prepare(absolute.to_str().unwrap(), &values);
    let prompt_ref = gone.prompt.clone();
    let looked_at = vec![absolute];
    assert_eq!(
        gone.warnings,
        [PromptWarning::Missing {
            prompt_ref,
            looked_at
        }]
    );
}

// rows: P-06
#[test]
fn a_role_without_a_prompt_gets_two_empty_texts() {
    let world = World::new();
    let values = Values::for_role(Role::Verify);
    let none = Job {
        prompt_ref: None,
        ..job("", &values)
    };
    let prepared = world.resolver().prepare(&none).unwrap();

    assert_eq!(
        (prepared.prompt.as_str(), prepared.content.as_str()),
        ("", "")
    );
    assert_eq!(
        prepared.warnings,
        [PromptWarning::NoPrompt { role: Role::Verify }]
    );
    assert_eq!(world.outputs(), None);
}

// rows: P-32, P-45
#[test]
fn an_unreadable_prompt_is_an_empty_text_and_a_warning() {
    let world = World::new();
    let values = Values::for_role(Role::Implement);
    // A ring of links stands for "permission denied", which root never meets.
    symlink("ring.md", world.in_loop("ring.md")).unwrap();
    put(world.in_home("ring.md"), "another file of that name");
    symlink("nowhere", world.in_loop("dangling.md")).unwrap();
    let big = fs::File::create(world.in_loop("big.md")).unwrap();
    big.set_len(PROMPT_LIMIT + 1).unwrap();

    for (prompt_ref, severity) in [
        ("ring.md", Severity::Warning),
        ("dangling.md", Severity::Warning),
        ("big.md", Severity::Error),
    ] {
        let prepared = world.prepare(prompt_ref, &values);
        assert_eq!(
            (prepared.prompt.as_str(), prepared.content.as_str()),
            (prompt_ref, "")
        );
        let worst = prepared.warnings.iter().map(PromptWarning::severity).max();
        assert_eq!(worst, Some(severity), "{prompt_ref}");
    }
    assert_eq!(world.outputs(), None);
    big.set_len(PROMPT_LIMIT).unwrap();
    assert_eq!(
        world.prepare("big.md", &values).content.len() as u64,
        PROMPT_LIMIT
    );
}

// rows: K-03, K-04, Q-27
#[test]
fn acceptance_criteria_from_a_list() {
    assert_eq!(criteria_list(["a", "b"]), "- a\n- b");
    assert_eq!(criteria_list(["one"]), "- one");
    assert_eq!(criteria_list([""; 0]), "");
}
