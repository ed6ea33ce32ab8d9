//! The tables of the documentation against the enums that they describe.

#![allow(clippy::unwrap_used)] // a test may panic

use loop_core::Step;
use loop_core::config::{Config, Supported};
use loop_core::gate::Level;
use loop_core::outcome::{
    EnvironmentFault, Error, Failure, Halt, Interruption, Outcome, Skip, VerifyFault,
};
use loop_core::state::{Progress, State};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const README: &str = include_str!("../../../README.md");
const TECHNICAL: &str = include_str!("../../../design/loops/technical.md");
const GATE: &str = include_str!("../../../design/loops/gate.md");
const SELF_IMPROVEMENT: &str = include_str!("../../../templates/loops/self-improvement/loop.json");

/// Returns the part of the technical reference that begins with a heading.
fn section(heading: &str) -> &'static str {
    let (_, rest) = TECHNICAL.split_once(&format!("\n## {heading}\n")).unwrap();
    let end = rest.find("\n## ").unwrap_or(rest.len());
    &rest[..end]
}

/// Returns the examples of JSON below a heading, up to the next one.
fn examples(text: &'static str, heading: &str) -> Vec<&'static str> {
    let (_, rest) = text.split_once(&format!("{heading}\n")).unwrap();
    let end = rest.find("\n##").unwrap_or(rest.len());
    let blocks = rest[..end].split("```json\n").skip(1);
    blocks
        .filter_map(|block| block.split("```").next())
        .collect()
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
    let parks = Halt::ALL.iter().copied().filter(|halt| halt.parks());
    ends.extend(parks.map(Outcome::Parked));
    ends.extend(Error::ALL.iter().copied().map(Outcome::Error));
    ends.extend(Skip::ITS_OWN.iter().copied().map(Outcome::Skipped));
    ends
}

// rows: U-04, D-10
#[test]
fn the_table_of_exit_codes_has_every_reason_with_its_code() {
    let table = section("10. Exit codes");
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
        assert!(
            documented.contains(&end.to_string()),
            "{end} is not documented"
        );
    }
}

// scenarios: 30
// rows: D-01, D-03, D-10, U-45
#[test]
fn the_chapters_that_others_point_at_are_there() {
    assert!(README.contains("\n## Loop Engineering\n"));
    let cycle = "gate → find work → worktree → implement → verify → orchestrate → state write";
    assert!(README.contains(cycle));
    assert!(section("3. loop.json").contains("work_source"));
    assert!(section("9. Self-improvement template").contains("interval_seconds"));
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

// rows: D-04
#[test]
fn the_examples_of_the_gate_and_the_blast_radius_are_enforced() {
    let in_readme = ["### The acceptance gate", "### The blast radius"];
    let in_readme = in_readme.iter().flat_map(|at| examples(README, at));
    let shown: Vec<_> = in_readme
        .chain(examples(GATE, "# The acceptance gate"))
        .collect();
    assert_eq!(shown.len(), 3);
    for part in shown {
        let file = format!("{{\"name\": \"x\", \"roles\": {{}}, {part}}}");
        let config = Config::parse(&file).unwrap().config;
        let missing = config.not_enforced(&Supported::THIS_VERSION);
        assert_eq!(missing, [""; 0], "{part}");
    }
    let said = format!("  gate: {}", Level::SameTests);
    assert!(README.contains(&said), "{said}");
}

// rows: D-03
#[test]
fn the_table_of_steps_has_each_in_its_order_and_whether_it_acts_outside() {
    let section = section("1. Overview and one tick");
    let (_, table) = section.split_once("| Step | Asked for |").unwrap();
    let rows = table.lines().skip(2).take_while(|row| row.starts_with('|'));
    let mut steps = Vec::new();
    for row in rows {
        let cells: Vec<_> = row.split('|').map(str::trim).collect();
        let step: Step = serde_json::from_value(words(cells[1])[0].into()).unwrap();
        assert_eq!(cells[3] == "yes", step.acts_outside(), "{row}");
        steps.push(step);
    }
    // Looking for work, opening and closing a tick are not asked for by the table.
    let asked = |step: &Step| !matches!(step, Step::FindWork | Step::Open | Step::Close);
    let all: Vec<_> = Step::ALL.into_iter().filter(asked).collect();
    assert_eq!(steps, all);
}

// rows: D-04
#[test]
fn every_key_of_the_state_is_in_the_reference() {
    let section = section("4. State and events.jsonl");
    let documented: BTreeSet<_> = words(section).into_iter().collect();
    let state = serde_json::to_value(State::new()).unwrap();
    let progress = serde_json::to_value(Progress::default()).unwrap();
    for object in [state, progress] {
        for key in object.as_object().unwrap().keys() {
            assert!(documented.contains(&**key), "{key} is not documented");
        }
    }
}

#[test]
#[allow(clippy::disallowed_methods)] // a test may read
fn every_decision_is_in_the_list_under_its_title() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../design/decisions");
    let list = fs::read_to_string(folder.join("README.md")).unwrap();
    let mut pages: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != "README.md")
        .collect();
    pages.sort();
    for (index, name) in pages.iter().enumerate() {
        let page = fs::read_to_string(folder.join(name)).unwrap();
        let number = index + 1;
        let title = page.lines().next().unwrap();
        let title = title.strip_prefix(&format!("# {number}. ")).unwrap();
        let row = format!("| [{number:04}]({name}) | {title} |");
        assert!(list.contains(&row), "{row}");
    }
}
