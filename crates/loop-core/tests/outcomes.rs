//! The closed table of outcomes, reasons and exit codes (shapes.md, section 1),
//! written down a second time.

#![allow(clippy::unwrap_used)] // a test may panic

use loop_core::outcome::Outcome;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Outcome, its reasons, and the code of `--exit-code`, `start` and `run`.
const TABLE: [(&str, &[&str], u8); 25] = [
    ("pass", &[], 0),
    (
        "fail",
        &["verdict", "gate_red", "exit", "timeout", "signal", "empty"],
        11,
    ),
    ("blocked", &["an API key is missing"], 11),
    (
        "verify_error",
        &["unreadable", "conflicting", "exit", "timeout", "void"],
        11,
    ),
    (
        "environment",
        &[
            "missing_program",
            "auth",
            "rate_limit",
            "quota",
            "offline",
            "prompt_too_large",
            "prompt_unsendable",
            "setup_failed",
        ],
        10,
    ),
    ("interrupted", &["signal", "stop", "crash"], 130),
    ("skipped", &["no_work", "no_current_task"], 0),
    ("skipped", &["paused", "locked", "window", "not_before"], 11),
    ("skipped", &["context_floor"], 2),
    ("skipped", &["untrusted"], 9),
    ("human_intervention", CAPS, 8),
    ("human_intervention", STUCK, 6),
    ("human_intervention", PERSON, 9),
    ("human_intervention", &["tampered", "worktree_replaced"], 5),
    (
        "human_intervention",
        &["verifier_broken", "planner_broken"],
        7,
    ),
    ("human_intervention", &["environment"], 10),
    ("human_intervention", GATE, 4),
    ("human_intervention", &["refused"], 3),
    ("parked", &["max_iterations"], 11),
    ("parked", STUCK, 11),
    (
        "parked",
        &[
            "low_score",
            "blocked",
            "escalated",
            "file_scope",
            "protected",
            "gate_green",
            "approval_required",
        ],
        11,
    ),
    ("done", &[], 0),
    ("done", &["parked"], 9),
    (
        "error",
        &[
            "worktree_failed",
            "outputs_unwritable",
            "source_failed",
            "state_removed",
            "attempt_alive",
            "disk",
        ],
        1,
    ),
    ("error", &["config", "state"], 2),
];

const CAPS: &[&str] = &[
    "max_iterations",
    "max_cost",
    "max_tokens",
    "max_wall",
    "max_ticks",
];
const STUCK: &[&str] = &["score_plateau", "no_progress", "harness_failures"];
const PERSON: &[&str] = &[
    "approval_required",
    "blocked",
    "low_score",
    "escalated",
    "file_scope",
    "protected",
    "outside_changed",
    "conflict",
];
const GATE: &[&str] = &["gate_green", "gate_broken", "gate_unwritten", "gate_flaky"];

/// Every outcome as JSON, with its exit code.
fn rows() -> Vec<(Value, u8)> {
    let mut rows = Vec::new();
    for (outcome, reasons, code) in TABLE {
        if reasons.is_empty() {
            rows.push((json!({ "outcome": outcome }), code));
        }
        for reason in reasons {
            rows.push((json!({ "outcome": outcome, "reason": reason }), code));
            // The reason of a halt decides about the skips that follow it.
            if outcome == "human_intervention" {
                let skip = json!({
                    "outcome": "skipped",
                    "reason": "human_intervention",
                    "halt": reason,
                });
                rows.push((skip, code));
            }
        }
    }
    rows
}

// rows: U-09, L-15
// cases: 130, 158
#[test]
fn every_outcome_has_its_code_and_round_trips() {
    for (json, code) in rows() {
        let outcome: Outcome = serde_json::from_value(json.clone()).unwrap();
        assert_eq!(outcome.exit_code(), code, "{json}");
        assert_eq!(outcome.as_str(), json["outcome"], "{json}");
        assert_eq!(outcome.reason(), json["reason"].as_str(), "{json}");
        assert_eq!(serde_json::to_value(&outcome).unwrap(), json);
        // A timer sees a failed unit only where something failed.
        let plain = match outcome.as_str() {
            "error" | "interrupted" => code,
            _ => 0,
        };
        assert_eq!(outcome.plain_exit_code(), plain, "{json}");
        let shown = match json["reason"].as_str() {
            Some(reason) => format!("{} ({reason})", outcome.as_str()),
            None => outcome.as_str().to_owned(),
        };
        assert_eq!(outcome.to_string(), shown);
    }
}

// rows: U-09
#[test]
fn the_table_has_every_word_of_every_enum() {
    use loop_core::outcome::{EnvironmentFault, Error, Failure, Halt, Interruption, VerifyFault};
    fn words<T: Copy + ToString>(all: &[T]) -> BTreeSet<String> {
        all.iter().map(ToString::to_string).collect()
    }
    let in_table = |outcome: &str| -> BTreeSet<String> {
        let rows = TABLE.iter().filter(|(word, ..)| *word == outcome);
        rows.flat_map(|(_, reasons, _)| reasons.iter())
            .map(ToString::to_string)
            .collect()
    };
    assert_eq!(in_table("fail"), words(Failure::ALL));
    assert_eq!(in_table("verify_error"), words(VerifyFault::ALL));
    assert_eq!(in_table("environment"), words(EnvironmentFault::ALL));
    assert_eq!(in_table("interrupted"), words(Interruption::ALL));
    assert_eq!(in_table("human_intervention"), words(Halt::ALL));
    assert_eq!(in_table("error"), words(Error::ALL));
    assert!(in_table("parked").is_subset(&words(Halt::ALL)));
}

// rows: U-09
#[test]
fn nothing_else_is_an_outcome() {
    for json in [
        json!({}),
        json!({ "outcome": "passed" }),
        json!({ "outcome": "pass", "reason": "verdict" }),
        json!({ "outcome": "fail" }),
        json!({ "outcome": "fail", "reason": "" }),
        json!({ "outcome": "fail", "reason": "unreadable" }),
        json!({ "outcome": "blocked" }),
        json!({ "outcome": "verify_error", "reason": "empty" }),
        json!({ "outcome": "environment", "reason": "exit" }),
        json!({ "outcome": "interrupted" }),
        json!({ "outcome": "skipped" }),
        json!({ "outcome": "skipped", "reason": "human_intervention" }),
        json!({ "outcome": "skipped", "reason": "paused", "halt": "blocked" }),
        json!({ "outcome": "human_intervention" }),
        json!({ "outcome": "human_intervention", "reason": "paused" }),
        json!({ "outcome": "parked" }),
        json!({ "outcome": "done", "reason": "pass" }),
        json!({ "outcome": "error", "reason": "auth" }),
    ] {
        let read = serde_json::from_value::<Outcome>(json.clone());
        assert!(read.is_err(), "{json} gave {read:?}");
    }
}
