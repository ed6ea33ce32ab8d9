//! Whether a loop's gate is what was frozen, and what is left open.

use super::Finding;
use crate::causes::with_causes;
use crate::gate::{GateError, Subject, lint_script_of, recorded, side_doors, unmatched};
use crate::setup::Setup;
use loop_core::gate::lint_argv;
use loop_core::state::State;
use loop_core::text::counted;
use std::sync::atomic::AtomicBool;

/// Compares; runs nothing.
pub(super) fn checks(setup: &Setup, state: &State) -> Vec<Finding> {
    match look(setup, state) {
        Ok(found) => found,
        Err(error) => vec![Finding::problem(
            "gate",
            with_causes(&error),
            format!("see more: loop gate check {}", setup.name),
        )],
    }
}

fn look(setup: &Setup, state: &State) -> Result<Vec<Finding>, GateError> {
    let Some(gate) = setup.config.gate() else {
        return Ok(Vec::new());
    };
    let name = &setup.name;
    let stop = AtomicBool::new(false);
    let subject = Subject::of(setup, state, None)?;
    let at = subject.context(setup, gate, &stop);
    let armed = subject.frozen.as_ref().map(recorded).transpose()?;
    let mut found = Vec::new();
    match armed {
        None => found.push(Finding::ok(
            "gate",
            "it is not frozen yet; the first tick of a task does it",
        )),
        Some(armed) => match &armed.compare(&at)?[..] {
            [] => found.push(Finding::ok("gate", "it is what was frozen")),
            [first, ..] => found.push(Finding::problem(
                "gate",
                format!("it is not what was frozen: {first}"),
                format!("see it: loop gate check {name}; if it is right: loop gate freeze {name}"),
            )),
        },
    }
    let see = format!("see them: loop gate check {name}");
    let doors = side_doors(&at)?.len();
    if doors > 0 {
        let what = counted(doors as u64, "file");
        found.push(Finding::warning(
            "gate",
            format!("{what} decide what a test run means, and are not frozen"),
            see.clone(),
        ));
    }
    for pattern in unmatched(&at)? {
        found.push(Finding::warning(
            "gate",
            format!("gate.frozen: {pattern} covers no file now"),
            see.clone(),
        ));
    }
    let script = lint_script_of(&at).map(|(_, found)| found);
    let lost = lint_argv(gate.command.as_slice()).into_iter();
    for fault in lost.chain(script.into_iter().flatten()) {
        found.push(Finding::warning(
            "gate",
            format!("line {}: {}", fault.line, fault.what),
            "let the gate exit with the code of its tests",
        ));
    }
    Ok(found)
}
