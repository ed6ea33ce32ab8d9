//! What a loop's gate is, before it runs, in words.

use crate::show;
use loop_core::gate::Level;
use loop_core::state::State;
use loop_runner::gate::freezes;
use loop_runner::setup::Setup;

/// Tells of the gate, if the loop has one; `task` says which armed gate counts.
pub(crate) fn tell(setup: &Setup, state: &State, task: Option<&str>) {
    let Some(gate) = setup.config.gate() else {
        return;
    };
    let words: Vec<_> = gate
        .command
        .as_slice()
        .iter()
        .map(|word| show::quoted(word))
        .collect();
    show::field("gate", words.join(" "));
    let level = Level::within_reach(
        gate,
        freezes(gate, setup.project.root()),
        setup.config.must_start_red(),
    );
    show::field(
        "",
        format!("at best {level}; it does not see {}", level.blind_to()),
    );
    // Between two tasks nothing is armed, and nothing is missing.
    if task.is_some() || state.finished.is_empty() {
        show::field("", frozen(setup, state, task));
    }
    if !gate.prove() {
        show::field("", "not proven in a clean checkout (gate.prove is off)");
    }
}

fn frozen(setup: &Setup, state: &State, task: Option<&str>) -> String {
    let armed = task.and_then(|task| state.progress_of(task).gate);
    let Some(armed) = armed else {
        return if setup.config.must_start_red() {
            "not armed yet: it has to be red before the first attempt".to_owned()
        } else {
            "not armed yet".to_owned()
        };
    };
    let red = if armed.red_seen {
        ", seen red before any work"
    } else {
        ""
    };
    let by = armed
        .frozen_by
        .map_or_else(String::new, |by| format!(", by {by}"));
    let short = armed
        .frozen
        .fingerprint
        .chars()
        .take(16)
        .collect::<String>();
    format!("frozen ({short}{by}){red}")
}
