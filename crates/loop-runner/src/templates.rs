//! The loops that can be created: those in the home, then those that are built in.

use crate::home::Home;
use std::fs;
use std::io;
use std::path::PathBuf;

/// The built-in templates by name; the files are those of `templates/loops/`.
const BUILT_IN: [(&str, &str); 5] = [
    ("task", include_str!("../templates/loops/task/loop.json")),
    (
        "backlog",
        include_str!("../templates/loops/backlog/loop.json"),
    ),
    (
        "ci-triage",
        include_str!("../templates/loops/ci-triage/loop.json"),
    ),
    (
        "run-loop",
        include_str!("../templates/loops/run-loop/loop.json"),
    ),
    (
        "self-improvement",
        include_str!("../templates/loops/self-improvement/loop.json"),
    ),
];

/// The JSON Schema of `loop.json`, which editors read.
pub(crate) const LOOP_SCHEMA: &str = include_str!("../schemas/loop.schema.json");

/// The text of a template's `loop.json`, and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    /// The text.
    pub text: String,
    /// The file; `None` when it is built in.
    pub file: Option<PathBuf>,
}

/// Finds the template called `name`; `None` when there is none.
///
/// # Errors
///
/// What the system said, when a template of the home cannot be read.
pub fn find(home: &Home, name: &str) -> io::Result<Option<Template>> {
    // A name is one folder's: nothing that leads elsewhere is looked up.
    if !names(home)?.iter().any(|known| known == name) {
        return Ok(None);
    }
    let file = home.loop_templates().join(name).join("loop.json");
    if file.is_file() {
        return Ok(Some(Template {
            text: fs::read_to_string(&file)?,
            file: Some(file),
        }));
    }
    let built_in = BUILT_IN.iter().find(|(known, _)| *known == name);
    Ok(built_in.map(|(_, text)| Template {
        text: (*text).to_owned(),
        file: None,
    }))
}

/// Lists the names of all templates, sorted.
///
/// # Errors
///
/// What the system said, when the home's templates cannot be listed.
pub fn names(home: &Home) -> io::Result<Vec<String>> {
    let mut names: Vec<String> = BUILT_IN
        .iter()
        .map(|(name, _)| (*name).to_owned())
        .collect();
    match fs::read_dir(home.loop_templates()) {
        Ok(entries) => {
            for entry in entries {
                let entry = entry?;
                if entry.path().join("loop.json").is_file()
                    && let Ok(name) = entry.file_name().into_string()
                {
                    names.push(name);
                }
            }
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    names.sort();
    names.dedup();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use loop_core::config::Config;
    use serde_json::{Value, json};

    fn value(name: &str) -> Value {
        let (_, text) = BUILT_IN.iter().find(|(known, _)| *known == name).unwrap();
        serde_json::from_str(text).unwrap()
    }

    fn roles() -> Value {
        json!({
            "implement": {"prompt": "loop-implement.md"},
            "verify": {"prompt": "loop-verifier.md"},
            "orchestrate": {"prompt": "loop-orchestrate.md"},
        })
    }

    // rows: T-13, T-14, W-07
    #[test]
    fn each_built_in_template_is_strictly_right_and_its_prompts_exist() {
        for (name, text) in BUILT_IN {
            let parsed = Config::parse(text).unwrap();
            assert_eq!(parsed.warnings, [], "{name}");
            assert_eq!(parsed.config.name().as_str(), name);
            let shipped: Vec<_> = loop_prompts::builtin()
                .iter()
                .map(|p| p.file_name)
                .collect();
            for (role, settings) in value(name)["roles"].as_object().unwrap() {
                let prompt = settings["prompt"].as_str().unwrap();
                assert!(shipped.contains(&prompt), "{name}.{role}: {prompt}");
            }
        }
    }

    // rows: T-01, T-02, T-03, Q-12, Q-35, Q-36
    #[test]
    fn ci_triage_has_the_seeds_roles_and_explicit_work_and_criteria() {
        let triage = value("ci-triage");
        assert_eq!(triage["roles"], roles());
        assert_eq!(triage["work_source"], json!({"kind": "single"}));
        assert_eq!(triage["acceptance_criteria"].as_array().unwrap().len(), 3);
        let keys: Vec<_> = triage.as_object().unwrap().keys().cloned().collect();
        assert_eq!(
            keys,
            [
                "$schema",
                "name",
                "description",
                "work_source",
                "acceptance_criteria",
                "roles",
                "brakes",
                "blast_radius",
                "schedule",
                "phases",
                "approval_phases"
            ]
        );
    }

    // rows: S-20, T-13
    #[test]
    fn a_backlog_is_worked_through_in_one_worktree_and_goes_on_past_what_fails() {
        let template = value("backlog");
        assert_eq!(
            template["work_source"],
            json!({"kind": "backlog", "area": "loops"})
        );
        assert_eq!(template["brakes"]["on_trip"], "park");
        let place = json!({"use_worktree": true, "worktree_for": "loop"});
        assert_eq!(template["blast_radius"], place);
        assert_eq!(template["phases"], json!(["implement"]));
        assert_eq!(template["approval_phases"], json!([]));
        assert_eq!(template["acceptance_criteria"].as_array().unwrap().len(), 3);
    }

    // rows: T-04, T-05, T-06, T-07, T-08, T-09, T-10, T-11, Q-13, Q-14, Q-15
    #[test]
    fn self_improvement_is_what_the_seeds_say() {
        let template = value("self-improvement");
        assert_eq!(template["name"], "self-improvement");
        assert_eq!(
            template["work_source"],
            json!({"kind": "audit", "project": "~/.automaton/"})
        );
        assert_eq!(template["roles"], roles());
        assert_eq!(
            template["brakes"],
            json!({"max_iterations": 10, "score_plateau_window": 3})
        );
        assert_eq!(
            template["blast_radius"].to_string(),
            r#"{"use_worktree":true,"file_scope":["scripts/","prompts/","tests/","design/"]}"#
        );
        assert_eq!(template["schedule"], json!({"interval_seconds": 3600}));
        assert_eq!(template["acceptance_criteria"].as_array().unwrap().len(), 4);
    }

    // rows: G-33, G-34, G-38, U-43
    #[test]
    fn run_loop_has_a_planner_a_gate_and_no_judge() {
        let template = value("run-loop");
        assert_eq!(
            template["roles"],
            json!({
                "plan": {"prompt": "loop-planner.md"},
                "implement": {"prompt": "loop-implement.md"},
            })
        );
        assert_eq!(
            template["gate"],
            json!({"command": ["bash", "scripts/verify.sh"], "must_start_red": true})
        );
        assert_eq!(
            template["brakes"],
            json!({"max_iterations": 10, "no_progress_window": 3})
        );
        assert_eq!(template["phases"], json!(["implement"]));
        assert!(template.get("blast_radius").is_none());
    }

    #[test]
    fn the_homes_templates_win_and_a_name_leads_nowhere_else() {
        let root = tempfile::tempdir().unwrap();
        let home = Home::new(root.path());
        assert_eq!(find(&home, "../loops/task").unwrap(), None);
        assert_eq!(find(&home, "no").unwrap(), None);
        assert_eq!(find(&home, "task").unwrap().unwrap().file, None);
        let own = home.loop_templates().join("task");
        fs::create_dir_all(&own).unwrap();
        fs::write(own.join("loop.json"), "{}").unwrap();
        let found = find(&home, "task").unwrap().unwrap();
        assert_eq!(
            (found.text.as_str(), found.file),
            ("{}", Some(own.join("loop.json")))
        );
        assert_eq!(
            names(&home).unwrap(),
            [
                "backlog",
                "ci-triage",
                "run-loop",
                "self-improvement",
                "task"
            ]
        );
    }
}
