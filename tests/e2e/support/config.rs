//! The loop that the scenarios start from, and what a judge says.

use serde_json::{Value, json};

/// Returns the configuration of the loop that the scenarios start from.
pub(crate) fn default_loop() -> Value {
    json!({
        "name": "L",
        "work_source": {"kind": "single"},
        "acceptance_criteria": ["a", "b"],
        "roles": {
            "implement": {"prompt": "impl.md"},
            "verify": {"prompt": "ver.md"},
            "orchestrate": {"prompt": "orch.md"},
        },
        "harness": {"command": ["rec", "{prompt}"]},
        "brakes": {"max_iterations": 10, "score_plateau_window": 3},
    })
}

/// The prompts of that loop.
pub(super) const PROMPTS: [(&str, &str); 3] = [
    (
        "impl.md",
        "I brief={task_brief}; crit={acceptance_criteria}; hint=[{next_hint}]; \
         task={current_task}; phase={current_phase}; cwd={cwd}",
    ),
    ("ver.md", "V art=<{artifact_content}> hint=[{next_hint}]"),
    ("orch.md", "O v={verdict} task={current_task}"),
];

/// Returns the line of a judge.
pub(crate) fn verdict(pass: bool, score: f64, hint: &str) -> String {
    json!({"pass": pass, "score": score, "reasons": [], "next_hint": hint}).to_string()
}
