//! What every profile that ships has to hold.

#![allow(clippy::unwrap_used, clippy::disallowed_methods)] // a test may panic and read files

use loop_core::config::PromptVia;
use loop_core::profile::{Offline, Profile};
use std::fs;
use std::path::PathBuf;

fn shipped() -> Vec<(String, Profile)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../templates/harnesses");
    let mut profiles: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            let text = fs::read_to_string(&path).unwrap();
            let profile = Profile::parse(&text);
            let profile = profile.unwrap_or_else(|error| panic!("{}", error.with_file(&name)));
            (name, profile)
        })
        .collect();
    profiles.sort_by(|(left, _), (right, _)| left.cmp(right));
    profiles
}

// rows: D-8, H-06
#[test]
fn a_profile_has_the_name_of_its_file_and_picks_no_model_and_no_session() {
    let names: Vec<String> = shipped().into_iter().map(|(name, _)| name).collect();
    assert_eq!(
        names,
        [
            "aider", "claude", "codex", "gemini", "generic", "opencode", "pi", "qwen"
        ]
    );
    for (name, profile) in shipped() {
        assert_eq!(profile.name().as_str(), name);
        for argument in profile.command().as_slice() {
            let word = argument.split('=').next().unwrap_or_default();
            for forbidden in [
                "--model",
                "-m",
                "--continue",
                "-c",
                "--resume",
                "-r",
                "--session",
                "-s",
                "--dangerously-skip-permissions",
                "--dangerously-bypass-approvals-and-sandbox",
            ] {
                // To codex -s is the sandbox.
                let is_sandbox = name == "codex" && word == "-s";
                assert!(is_sandbox || word != forbidden, "{name}: {argument}");
            }
        }
    }
}

// rows: D-8
// cases: 135
#[test]
fn a_prompt_is_kept_out_of_the_arguments_where_the_tool_takes_it_elsewhere() {
    for (name, profile) in shipped() {
        let via = match name.as_str() {
            "aider" => PromptVia::File,
            "generic" => PromptVia::Argv,
            _ => PromptVia::Stdin,
        };
        assert_eq!(profile.prompt_via(), via, "{name}");
        assert!(!profile.refuses_dash(), "{name}");
    }
}

// rows: D-15
// cases: 133
#[test]
fn what_a_tool_reports_is_said() {
    for (name, profile) in shipped() {
        let says = (profile.reports_tokens(), profile.reports_cost());
        let expected = match name.as_str() {
            "generic" => (false, false),
            "codex" | "gemini" | "qwen" => (true, false),
            _ => (true, true),
        };
        assert_eq!(says, expected, "{name}");
        assert_eq!(profile.usage_is_cumulative(), name == "codex", "{name}");
        let limit = (name == "claude").then_some("--max-budget-usd");
        assert_eq!(profile.max_usd_flag(), limit, "{name}");
        let hangs = ["codex", "opencode"].contains(&name.as_str());
        assert_eq!(profile.idle_timeout().is_some(), hangs, "{name}");
        assert_eq!(profile.version().is_some(), name != "generic", "{name}");
        assert_eq!(profile.state_dirs().is_empty(), name == "generic", "{name}");
    }
}

// rows: D-8
#[test]
fn every_tool_can_be_tried_without_an_account() {
    const URL: &str = "http://127.0.0.1:18080";
    for (name, profile) in shipped() {
        let Some(offline) = profile.offline() else {
            assert_eq!(name, "generic");
            continue;
        };
        let fill = |text: &str| Offline::fill(text, URL, "/d");
        let values = offline.env().chain(offline.files());
        let filled: Vec<String> = values.map(|(_, value)| fill(value)).collect();
        assert!(filled.iter().any(|value| value.contains(URL)), "{name}");
        for (path, text) in offline.files() {
            if path.ends_with(".json") {
                let read: Result<serde_json::Value, _> = serde_json::from_str(&fill(text));
                assert!(read.is_ok(), "{name}: {path}");
            }
        }
    }
}
