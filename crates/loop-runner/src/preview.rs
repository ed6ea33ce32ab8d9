//! The prompt that the next tick would send, without a tick.

use crate::call;
use crate::harness::role_config;
use crate::setup::Setup;
use crate::store::{ReadError, read_state};
use crate::tasks::ReadError as ReadTaskError;
use crate::workplace;
use loop_core::Role;
use loop_core::answer::WorktreeRecord;
use loop_core::config::WorktreeFor;
use loop_core::state::State;
use loop_core::step::{Budget, Call};
use loop_prompts::{
    ARGUMENT_LIMIT, Finding, Lint, Prepared, Resolution, Resolver, Template, Token, Values,
};
use std::path::PathBuf;

/// A prompt as it would be sent.
#[derive(Debug)]
pub struct Preview {
    /// The prompt, rendered but not written.
    pub prepared: Prepared,
    /// What the role would know.
    pub values: Values<'static>,
    /// The tick it is for.
    pub tick: u64,
}

/// What is likely wrong with a role's prompt.
#[derive(Debug)]
pub struct Checked {
    /// The role.
    pub role: Role,
    /// The file, if one was found.
    pub file: Option<PathBuf>,
    /// What was found.
    pub findings: Vec<Finding>,
    /// What a tick would warn of.
    pub warnings: Vec<String>,
}

/// The task that a preview is about.
#[derive(Clone, Debug, Default)]
pub(crate) struct NextTask {
    /// Its name; empty when there is none.
    pub(crate) name: String,
    /// What it will be told, if it is yet to be made.
    pub(crate) brief: Option<String>,
}

/// A prompt that cannot be shown.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PreviewError {
    /// There is nothing to render a prompt for.
    #[error(
        "the loop {name} has no task now; loop set-task gives one to a loop of the kind single, \
         and loop tick {name} --dry-run shows what another kind takes next"
    )]
    NoTask {
        /// The loop.
        name: String,
    },
    /// The loop's state cannot be read.
    #[error(transparent)]
    State(#[from] ReadError),
    /// What the role knows cannot be gathered.
    #[error("{what}")]
    Values {
        /// What went wrong.
        what: String,
    },
}

/// Renders what the next tick would send to `role`, or the tick `tick`. Spends
/// and writes nothing. The fence is shown as zeros, since each tick has its own.
///
/// # Errors
///
/// [`PreviewError`].
pub fn preview(setup: &Setup, role: Role, tick: Option<u64>) -> Result<Preview, PreviewError> {
    let state = read_state(&setup.dir)?.state;
    let configured = setup.config.work_source().task.as_ref();
    let name = state.current_task.clone();
    let name = name.or_else(|| configured.map(|task| task.as_str().to_owned()));
    let next = NextTask {
        name: name.unwrap_or_default(),
        brief: None,
    };
    preview_of(setup, &state, role, tick, &next)
}

/// The same for a task that the loop may not have yet.
pub(crate) fn preview_of(
    setup: &Setup,
    state: &State,
    role: Role,
    tick: Option<u64>,
    next: &NextTask,
) -> Result<Preview, PreviewError> {
    let call = next_call(setup, state, role, tick, &next.name);
    if call.task.is_empty() {
        return Err(PreviewError::NoTask {
            name: setup.name.clone(),
        });
    }
    let cwd = next_folder(setup, state, &call.task);
    let mut warnings = Vec::new();
    let mut values =
        call::values(setup, &call, &cwd, &mut warnings).map_err(|fault| PreviewError::Values {
            what: fault.what().to_owned(),
        })?;
    if let Some(brief) = &next.brief
        && call::prompt_role(role).sees(Token::TaskBrief)
    {
        values.set(Token::TaskBrief, brief.clone());
    }
    let job = call::job(setup, &call, &values, None);
    let prepared = Resolver::new(setup.dir.root(), setup.home.root()).preview(&job);
    Ok(Preview {
        prepared,
        values,
        tick: call.tick,
    })
}

/// Looks for what is likely wrong with the prompt of `role`. For a loop without
/// a task only the prompt's file is looked at, not what it would become.
///
/// # Errors
///
/// [`PreviewError`].
pub fn check(setup: &Setup, role: Role) -> Result<Checked, PreviewError> {
    let shown = match preview(setup, role, None) {
        Ok(shown) => Some(shown),
        Err(PreviewError::NoTask { .. }) => None,
        Err(error) => return Err(error),
    };
    let harnesses = setup.harnesses.of_role(role);
    let inline = harnesses
        .iter()
        .flat_map(|harness| &harness.command)
        .any(|part| part.contains("{prompt_content}"));
    let lint = Lint {
        role: Some(call::prompt_role(role)),
        byte_limit: inline.then_some(ARGUMENT_LIMIT),
    };
    let resolver = Resolver::new(setup.dir.root(), setup.home.root());
    let prompt_ref = role_config(&setup.config, role).and_then(|role| role.prompt.as_deref());
    let lookup = prompt_ref.map(|prompt_ref| resolver.find(prompt_ref));
    let (mut findings, file) = match lookup.as_ref().map(|lookup| &lookup.result) {
        Some(Resolution::Found { path, text }) => {
            let template = Template::parse(text.clone());
            (lint.template(&template), Some(path.clone()))
        }
        _ => (Vec::new(), None),
    };
    let mut warnings = lookup.map_or_else(Vec::new, |lookup| lookup.warnings);
    if let Some(shown) = shown {
        findings.extend(lint.rendered(&shown.prepared.content, &shown.values));
        warnings = shown.prepared.warnings;
    }
    Ok(Checked {
        role,
        file,
        findings,
        warnings: warnings.iter().map(ToString::to_string).collect(),
    })
}

/// Returns the call that the machine would ask for next.
fn next_call(setup: &Setup, state: &State, role: Role, tick: Option<u64>, task: &str) -> Call {
    let progress = state.progress_of(task);
    Call {
        role,
        tick: tick.unwrap_or(state.tick + 1),
        attempt: 1,
        nonce: "0".repeat(16),
        phase: next_phase(setup, task),
        hint: progress.hint,
        verdict: (role == Role::Orchestrate)
            .then(|| state.last_verdict.as_ref()?.verdict.clone())
            .flatten(),
        unjudged: progress.unjudged,
        fault: None,
        harness: 0,
        artifact: None,
        timeout_ms: 0,
        budget: Budget::default(),
        worktree: made_worktree(setup, state, task),
        frozen: progress.gate.map(|gate| gate.frozen),
        diff: None,
        task: task.to_owned(),
    }
}

/// Returns the phase that a task will be worked on in; `None` when it has no
/// record to say so.
fn next_phase(setup: &Setup, task: &str) -> Option<String> {
    let phases = setup.rules().phases;
    match setup.tasks.read(task) {
        Ok(Some(mut record)) => {
            // One that has not moved yet gets the loop's phases (decision D-9).
            record.adopt(&phases, setup.clock.now());
            Some(record.phase)
        }
        Err(ReadTaskError::Missing { .. }) => phases.list.first().cloned(),
        Ok(None) | Err(_) => None,
    }
}

/// Returns the worktree that the next tick would work in, if it is made.
fn made_worktree(setup: &Setup, state: &State, task: &str) -> Option<WorktreeRecord> {
    match setup.rules().worktree? {
        WorktreeFor::Loop => state.worktree.clone(),
        WorktreeFor::Task => state.progress_of(task).worktree,
    }
}

/// Returns where the next tick would work, made or not.
fn next_folder(setup: &Setup, state: &State, task: &str) -> PathBuf {
    let made = made_worktree(setup, state, task);
    match setup.rules().worktree {
        Some(worktree) if made.is_none() => workplace::destination(setup, worktree, task),
        _ => workplace::project_folder(setup, made.as_ref()),
    }
}
