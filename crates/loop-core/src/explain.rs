//! What a person can do about an outcome, in one line.

use crate::outcome::{EnvironmentFault, Error, Halt, Interruption, Outcome, Skip};
use crate::state::State;

/// Says what to do about `outcome` of the loop called `name`; `None` where the
/// next tick goes on by itself and nobody has to do anything.
#[must_use]
pub fn what_to_do(outcome: &Outcome, name: &str) -> Option<String> {
    match outcome {
        Outcome::Pass | Outcome::Fail(_) | Outcome::Parked(_) | Outcome::Done { parked: false } => {
            None
        }
        Outcome::Blocked(_) => Some("supply what is missing, or change the task".to_owned()),
        Outcome::VerifyError(_) => Some(
            "look at the verifier's output; the next tick asks for the judgement only".to_owned(),
        ),
        Outcome::Environment(fault) => Some(mend(*fault).to_owned()),
        Outcome::Interrupted(Interruption::Stop) => Some(format!("go on with: loop resume {name}")),
        Outcome::Interrupted(_) => Some(format!("go on with: loop tick {name}")),
        Outcome::Skipped(skip) => skipped(*skip, name),
        Outcome::HumanIntervention(halt) => Some(halted(*halt, name)),
        Outcome::Done { parked: true } => Some(format!("see what was put aside: loop show {name}")),
        Outcome::Error(error) => Some(failed(*error, name)),
    }
}

/// The same with what the loop's state adds: work that was put aside is left for
/// a person when there is no other.
#[must_use]
pub fn what_to_do_in(outcome: &Outcome, state: &State, name: &str) -> Option<String> {
    match outcome {
        Outcome::Skipped(Skip::NoWork) if !state.parked.is_empty() => {
            what_to_do(&Outcome::Done { parked: true }, name)
        }
        Outcome::HumanIntervention(Halt::Environment)
        | Outcome::Skipped(Skip::HumanIntervention(Halt::Environment)) => {
            let first = match state.environment {
                Some(streak) => mend(streak.reason),
                None => first_step(Halt::Environment),
            };
            Some(format!("{first}, then: loop approve {name}"))
        }
        outcome => what_to_do(outcome, name),
    }
}

fn skipped(skip: Skip, name: &str) -> Option<String> {
    match skip {
        Skip::NoWork | Skip::Locked | Skip::Window | Skip::NotBefore => None,
        Skip::NoCurrentTask => Some(format!("give it one with: loop set-task {name} TASK")),
        Skip::Paused => Some(format!("go on with: loop resume {name}")),
        Skip::ContextFloor => Some("give the role a model with a larger context window".to_owned()),
        Skip::HumanIntervention(Halt::Escalated) => Some(format!(
            "look at the task, then: loop approve {name}, or if that waits for nothing: loop task approve TASK"
        )),
        Skip::HumanIntervention(halt) => Some(halted(halt, name)),
        Skip::Untrusted => Some(format!(
            "see what it starts: loop trust {name} --show; then: loop trust {name}"
        )),
    }
}

fn halted(halt: Halt, name: &str) -> String {
    match halt {
        Halt::Tampered => format!(
            "{}; a gate that is right as it is: loop gate freeze {name}; then: loop approve {name}",
            first_step(halt)
        ),
        halt => format!("{}, then: loop approve {name}", first_step(halt)),
    }
}

/// Says what a person does first about a loop that waits, in words that commands
/// can follow.
#[must_use]
pub fn first_step(halt: Halt) -> &'static str {
    match halt {
        Halt::ApprovalRequired => "look at the work",
        Halt::MaxIterations => "improve the task, or raise brakes.max_iterations",
        Halt::MaxCost => "raise brakes.max_cost_usd",
        Halt::MaxTokens => "raise brakes.max_tokens",
        Halt::MaxWall => "raise brakes.max_wall_seconds",
        Halt::MaxTicks => "wait for the next UTC day, or raise brakes.max_ticks_per_day",
        Halt::ScorePlateau | Halt::NoProgress => "improve the task or the prompt",
        Halt::HarnessFailures => "look at implement's stderr log and mend the harness",
        Halt::Blocked => "supply what is missing",
        Halt::LowScore => "look at the verdict and the work",
        Halt::Escalated => "look at the task",
        Halt::FileScope | Halt::Protected => "look at the listed files, and move or revert them",
        Halt::OutsideChanged => "find out what changed your checkout; if this was you",
        Halt::Conflict => {
            "set right what the reason names (a task's phase with loop task transition)"
        }
        Halt::Tampered => "look at what was changed, and put it back",
        Halt::WorktreeReplaced => "look at the worktree, and remove it if it is not yours",
        Halt::VerifierBroken => "look at the verifier's output and mend its prompt or harness",
        Halt::PlannerBroken => "look at the planner's output and mend its prompt or harness",
        Halt::Environment => "mend what the reason names",
        Halt::GateGreen => "write a gate that fails before the work is done",
        Halt::GateBroken => "mend the gate (its command, or gate.frozen in loop.json)",
        Halt::GateUnwritten => "write the gate",
        Halt::GateFlaky => "make the gate give the same answer twice",
        Halt::Refused => "change the task as the planner says",
    }
}

fn mend(fault: EnvironmentFault) -> &'static str {
    match fault {
        EnvironmentFault::MissingProgram => {
            "install the program, or set harness.command in loop.json"
        }
        EnvironmentFault::Auth => "log the harness in",
        EnvironmentFault::RateLimit | EnvironmentFault::Quota => "wait, or use another account",
        EnvironmentFault::Offline => "connect the machine",
        EnvironmentFault::PromptTooLarge => {
            "hand the prompt over as a file: use {prompt} instead of {prompt_content}"
        }
        EnvironmentFault::PromptUnsendable => {
            "take the NUL byte out of the prompt, or the `-` at its start"
        }
        EnvironmentFault::SetupFailed => "mend the set-up that the reason names",
    }
}

fn failed(error: Error, name: &str) -> String {
    match error {
        Error::WorktreeFailed => "mend what the reason names, and tick again".to_owned(),
        Error::OutputsUnwritable | Error::Disk => {
            "make room, or the folder writable, and tick again".to_owned()
        }
        Error::SourceFailed => "mend the work source, and tick again".to_owned(),
        Error::StateRemoved => {
            format!("the loop's files were removed while it ran; see: loop show {name}")
        }
        Error::AttemptAlive => "end that process, and tick again".to_owned(),
        Error::Config => format!("mend loop.json; loop validate {name} checks it"),
        Error::State => "restore the loop's events.jsonl from a backup".to_owned(),
    }
}
