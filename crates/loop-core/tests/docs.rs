//! The tables of the documentation against the enums that they describe.

#![allow(clippy::unwrap_used)] // a test may panic

use loop_core::outcome::{
    EnvironmentFault, Error, Failure, Halt, Interruption, Outcome, Skip, VerifyFault,
};
use std::collections::BTreeSet;

const README: &str = include_str!("../../../README.md");
const TECHNICAL: &str = include_str!("../../../design/loops/technical.md");
const SELF_IMPROVEMENT: &str = include_str!("../../../templates/loops/self-improvement/loop.json");

/// Returns the part of the technical reference that begins with a heading.
fn section(heading: &str) -> &'static str {
    let (_, rest) = TECHNICAL.split_once(&format!("\n## {heading}\n")).unwrap();
    let end = rest.find("\n## ").unwrap_or(rest.len());
    &rest[..end]
}

/// Returns the words between backquotes.
fn words(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// Every end of a tick that has a reason out of a closed set.
fn ends() -> Vec<Outcome> {
    let mut ends = vec![Outcome::Pass];
    ends.extend(Failure::ALL.iter().copied().map(Outcome::Fail));
    ends.extend(VerifyFault::ALL.iter().copied().map(Outcome::VerifyError));
    ends.extend(
        EnvironmentFault::ALL
            .iter()
            .copied()
            .map(Outcome::Environment),
    );
    ends.extend(Interruption::ALL.iter().copied().map(Outcome::Interrupted));
    ends.extend(Halt::ALL.iter().copied().map(Outcome::HumanIntervention));
    ends.extend(Error::ALL.iter().copied().map(Outcome::Error));
    ends.extend(Skip::ITS_OWN.iter().copied().map(Outcome::Skipped));
    ends
}

// rows: U-04, D-10
#[test]
fn the_table_of_exit_codes_has_every_reason_with_its_code() {
    let section = section("10. Exit codes");
    let (table, later) = section.split_once("The enums have more members").unwrap();
    let mut outcome = "";
    let mut documented = BTreeSet::new();
    for row in table.lines().filter(|line| line.starts_with('|')) {
        let cells: Vec<_> = row.split('|').map(str::trim).collect();
        let [_, name, reasons, code, _] = cells[..] else {
            panic!("{row}");
        };
        outcome = words(name).first().copied().unwrap_or(outcome);
        let Ok(code) = code.parse::<u8>() else {
            continue; // the heading, its rule, and "that of the halt"
        };
        let reasons = words(reasons);
        for reason in &reasons {
            let is_one = |end: &Outcome| end.as_str() == outcome && end.reason() == Some(reason);
            assert!(
                ends().iter().any(is_one),
                "{outcome} ({reason}) does not exist"
            );
        }
        for end in ends().iter().filter(|end| end.as_str() == outcome) {
            if end.reason().is_none_or(|reason| reasons.contains(&reason)) {
                assert_eq!(end.exit_code(), code, "{end}");
                documented.insert(end.to_string());
            }
        }
    }
    for end in ends() {
        let told = documented.contains(&end.to_string())
            || words(later).contains(&end.reason().unwrap_or_default());
        assert!(told, "{end} is not documented");
    }
}

// rows: D-01, D-03, D-10
#[test]
fn the_chapters_that_others_point_at_are_there() {
    assert!(README.contains("\n## Loop Engineering\n"));
    let cycle = "gate → find work → worktree → implement → verify → orchestrate → state write";
    assert!(README.contains(cycle));
    let harness = section("8. Harness and prompt resolution");
    assert!(harness.contains(r#"["opencode", "run", "--dir", "{cwd}", "{prompt_content}"]"#));
    for example in ["Pi Dev", "aider", "Generic"] {
        assert!(harness.contains(&format!("**{example}**")), "{example}");
    }
    assert!(section("5. Verifier").contains("\"next_hint\": \"...\"}"));
}

// rows: T-11
#[test]
fn the_self_improvement_template_is_shown_as_it_ships() {
    assert!(section("9. Self-improvement template").contains(SELF_IMPROVEMENT.trim_end()));
}

// rows: D-04
#[test]
fn every_key_of_loop_json_is_in_the_reference() {
    let reference = format!("{README}{}", section("3. loop.json"));
    let documented: BTreeSet<_> = words(&reference)
        .into_iter()
        .flat_map(|word| word.split(|c: char| !(c.is_ascii_alphanumeric() || "_$".contains(c))))
        .collect();
    let schema = serde_json::to_value(loop_core::config::schema()).unwrap();
    let objects = schema["$defs"].as_object().unwrap().values();
    let keys = objects
        .chain([&schema])
        .filter_map(|object| object["properties"].as_object())
        .flat_map(|properties| properties.keys());
    for key in keys {
        assert!(documented.contains(&**key), "{key} is not documented");
    }
}

// rows: D-05, D-06, D-08, D-11, H-40, T-12
#[test]
fn the_documents_tell_what_the_seeds_asked_them_to_tell() {
    for shown in [
        "loop list",
        "loop audit",
        ".state.log",
        "loop approve",
        "loop pause",
        "loop resume",
        "at least weekly",
        "*bounded*",
    ] {
        assert!(README.contains(shown), "{shown} in the README");
    }
    let schema = section("3. loop.json");
    assert!(schema.contains("work_source") && schema.contains("acceptance_criteria"));
    let default = r#"["opencode", "run", "--dir", "{cwd}", "{prompt_content}"]"#;
    for heading in [
        "8. Harness and prompt resolution",
        "9. Self-improvement template",
    ] {
        assert!(section(heading).contains(default), "{heading}");
    }
    let harness = section("8. Harness and prompt resolution");
    for example in ["pi", "aider", "my-agent"] {
        assert!(harness.contains(&format!("[\"{example}\"")), "{example}");
    }
}
