//! One call of a role's harness: from the prompt to its output on disk.

mod bill;
mod deliver;
mod output;
mod run;
mod tail;
mod zone;

use crate::harness::{policy, role_config};
use crate::holder::{self, Environment, Place, StartError};
use crate::nonce::random_bits;
use crate::setup::Setup;
use crate::tasks::ReadError;
use loop_core::answer::{Called, StepFault};
use loop_core::bill::Bill;
use loop_core::harness::CalledHarness;
use loop_core::outcome::{EnvironmentFault, Error};
use loop_core::step::{Budget, Call};
use loop_core::text::{cut, without_controls};
use loop_core::{Role, verdict::Unreadable};
use loop_prompts::{CommandValues, Fence, Job, PromptName, Resolver, Token, Values};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub(crate) use deliver::limit_without_place;
pub(crate) use run::run;

/// A call that could start now. Nothing has been spent.
#[derive(Debug)]
pub(crate) struct Prepared<'s> {
    command: holder::Command,
    harness: &'s CalledHarness,
    /// What it may use.
    budget: Budget,
    /// Where the harness is told to write, a name that nobody could foresee.
    written: PathBuf,
    /// Where the role's output is kept.
    kept: PathBuf,
    /// The prompt's text.
    prompt: String,
    /// What a person should hear about.
    pub(crate) warnings: Vec<String>,
}

/// A call that has ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) called: Called,
    /// What it used.
    pub(crate) bill: Bill,
    /// The role's text, or its end if it is very long.
    pub(crate) text: String,
    /// The prompt that it was given.
    pub(crate) prompt: String,
    pub(crate) warnings: Vec<String>,
}

/// A call that did not come to an end of its own.
pub(crate) struct NotRun {
    /// What it used, if it began.
    pub(crate) bill: Option<Box<Bill>>,
    pub(crate) why: Why,
}

/// Why there is no [`Ran`].
pub(crate) enum Why {
    /// It could not be started, its output could not be kept, or something around
    /// the loop is wrong.
    Fault(StepFault),
    /// It was ended because the tick has to end.
    Stopped,
}

impl From<StepFault> for NotRun {
    fn from(fault: StepFault) -> Self {
        Self {
            bill: None,
            why: Why::Fault(fault),
        }
    }
}

/// Renders the prompt, fills in the command, and checks all that can be checked
/// before anything is spent.
pub(crate) fn prepare<'s>(
    setup: &'s Setup,
    call: &Call,
    cwd: &Path,
) -> Result<Prepared<'s>, StepFault> {
    let files = Files::of(setup, call)?;
    let mut warnings = Vec::new();
    let values = values(setup, call, cwd, &mut warnings)?;
    let resolver = Resolver::new(setup.dir.root(), setup.home.root());
    let addendum = call.fault.as_ref().map(ask_again);
    let job = job(setup, call, &values, addendum.as_deref());
    let prompt = resolver.prepare(&job).map_err(|error| outputs(&error))?;
    warnings.extend(prompt.warnings.iter().map(ToString::to_string));
    let harness = harness_of(setup, call)?;
    deliver::check(harness, &prompt.content, &mut warnings)?;
    let written = utf8(&files.written)?;
    let artifact = artifact(setup, call);
    let artifact = artifact.as_deref().map(utf8).transpose()?;
    let filled = CommandValues {
        prompt: &prompt.prompt,
        prompt_content: &prompt.content,
        output: Some(written),
        artifact,
        values: &values,
    };
    let words = deliver::command(harness, call.budget);
    let argv = words.iter().map(|element| filled.fill(element).into());
    let mut command = holder::Command::new(
        argv.collect(),
        cwd.to_owned(),
        environment(setup, call, harness),
        [files.stdout, files.stderr],
        setup.dir.step_lock(),
    );
    command.timeout = Duration::from_millis(call.timeout_ms);
    command.idle_timeout = harness.idle_timeout;
    command.stdin = deliver::stdin(harness, &prompt.content);
    command.heard = harness.profile.is_some();
    command.preflight().map_err(|error| not_started(&error))?;
    Ok(Prepared {
        command,
        harness,
        budget: call.budget,
        written: files.written,
        kept: files.kept,
        prompt: prompt.content,
        warnings,
    })
}

/// Returns the harness that the machine has chosen.
fn harness_of<'s>(setup: &'s Setup, call: &Call) -> Result<&'s CalledHarness, StepFault> {
    let harnesses = setup.harnesses.of_role(call.role);
    harnesses.get(call.harness).ok_or_else(|| StepFault::Error {
        reason: Error::Config,
        what: format!(
            "{} has no harness number {}",
            call.role.as_str(),
            call.harness
        ),
    })
}

/// The files of one call, below `outputs/`.
struct Files {
    written: PathBuf,
    kept: PathBuf,
    stdout: PathBuf,
    stderr: PathBuf,
}

impl Files {
    fn of(setup: &Setup, call: &Call) -> Result<Self, StepFault> {
        let outputs_dir = setup.dir.outputs();
        fs::create_dir_all(&outputs_dir).map_err(|error| {
            outputs(&format_args!(
                "cannot make {}: {error}",
                outputs_dir.display()
            ))
        })?;
        let again = match call.attempt {
            0 | 1 => String::new(),
            n => format!("-{n}"),
        };
        let stem = format!("tick{}-{}{again}", call.tick, call.role.as_str());
        Ok(Self {
            written: outputs_dir.join(format!("{stem}-written-{:016x}.md", random_bits())),
            kept: outputs_dir.join(format!("{stem}-output.md")),
            stdout: outputs_dir.join(format!("{stem}-stdout.log")),
            stderr: outputs_dir.join(format!("{stem}-stderr.log")),
        })
    }
}

/// Returns implement's output, where the role sees it: that of this tick, or of
/// the earlier one whose work is judged.
fn artifact(setup: &Setup, call: &Call) -> Option<PathBuf> {
    let this_ticks = || {
        let name = format!("tick{}-implement-output.md", call.tick);
        setup.dir.outputs().join(name)
    };
    let known = call.artifact.as_ref();
    let known = known.or_else(|| call.unjudged.as_ref().map(|held| &held.output));
    (call.role == Role::Verify).then(|| known.map_or_else(this_ticks, PathBuf::from))
}

/// Describes the prompt of a call to the resolver.
pub(crate) fn job<'a>(
    setup: &'a Setup,
    call: &Call,
    values: &'a Values<'a>,
    addendum: Option<&'a str>,
) -> Job<'a> {
    Job {
        prompt_ref: role_config(&setup.config, call.role).and_then(|role| role.prompt.as_deref()),
        name: PromptName {
            tick: call.tick,
            role: prompt_role(call.role),
            call: call.attempt,
        },
        values,
        addendum,
    }
}

pub(crate) fn prompt_role(role: Role) -> loop_prompts::Role {
    match role {
        Role::Plan => loop_prompts::Role::Plan,
        Role::Implement => loop_prompts::Role::Implement,
        Role::Verify => loop_prompts::Role::Verify,
        Role::Orchestrate => loop_prompts::Role::Orchestrate,
    }
}

/// Gathers what the role knows; what it may not see is dropped on the way in.
pub(crate) fn values(
    setup: &Setup,
    call: &Call,
    cwd: &Path,
    warnings: &mut Vec<String>,
) -> Result<Values<'static>, StepFault> {
    let mut values = Values::for_role(prompt_role(call.role));
    if prompt_role(call.role).sees(Token::TaskBrief) {
        values.set(Token::TaskBrief, brief(setup, &call.task, warnings));
    }
    let bits = u64::from_str_radix(&call.nonce, 16).unwrap_or_default();
    values
        .set(Token::AcceptanceCriteria, setup.config.criteria_text())
        .set(Token::NextHint, call.hint.clone())
        .set(Token::CurrentTask, call.task.clone())
        .set(Token::CurrentPhase, call.phase.clone().unwrap_or_default())
        .set(Token::Cwd, cwd.to_string_lossy().into_owned())
        .set(Token::Fence, Fence::from_bits(bits).to_string());
    if let Some(verdict) = &call.verdict {
        values.set(
            Token::Verdict,
            Value::Object(verdict.clone().into()).to_string(),
        );
    }
    if let Some(artifact) = artifact(setup, call) {
        let warning = values.set_artifact(&artifact);
        warnings.extend(warning.map(|warning| warning.to_string()));
        // An agent wrote it: no escape sequence of its may reach another prompt.
        let text = values.get(Token::ArtifactContent).unwrap_or_default();
        if text.chars().any(is_escape) {
            let clean = without_controls(text);
            values.set(Token::ArtifactContent, clean);
        }
    }
    Ok(values)
}

/// Reads what a task is about; nothing is a brief too.
fn brief(setup: &Setup, task: &str, warnings: &mut Vec<String>) -> String {
    match setup.tasks.brief(task) {
        Ok(brief) => brief.unwrap_or_default(),
        // Whoever needs the folder says so when it does.
        Err(ReadError::Missing { .. }) => String::new(),
        Err(error) => {
            warnings.push(format!("no text for `{{task_brief}}`: {error}"));
            String::new()
        }
    }
}

/// The paragraph that asks a judge again.
fn ask_again(fault: &Unreadable) -> String {
    format!(
        "\n\nYour previous answer could not be read: {fault}. Answer again, with nothing but one \
         JSON object of the shape {{\"pass\": bool, \"score\": 0.0-1.0, \"reasons\": [...], \
         \"next_hint\": \"...\"}}.\n"
    )
}

fn environment(setup: &Setup, call: &Call, harness: &CalledHarness) -> Environment {
    let place = Place {
        loop_name: setup.name.clone().into(),
        role: Some(call.role.as_str().into()),
        tick: Some(call.tick),
        project: setup.kept_in.root().into(),
        home: setup.home.root().into(),
        diff: call.diff.as_ref().map(Into::into),
    };
    Environment::new(
        setup.environment.iter().cloned(),
        &policy(&harness.env),
        &place,
    )
}

/// Says what a call that did not start means: something around the loop is
/// wrong, or the engine cannot do its part.
fn not_started(error: &StartError) -> StepFault {
    use EnvironmentFault::{MissingProgram, PromptTooLarge, PromptUnsendable};
    let reason = match error {
        StartError::ProgramNotFound { .. }
        | StartError::NotExecutable { .. }
        | StartError::InterpreterMissing { .. } => MissingProgram,
        StartError::ArgumentTooLong { .. }
        | StartError::VariableTooLong { .. }
        | StartError::ListTooLong => PromptTooLarge,
        StartError::NulInArgument { .. } | StartError::NulInVariable { .. } => PromptUnsendable,
        StartError::DirectoryMissing { .. } => return engine_error(Error::WorktreeFailed, error),
        StartError::StepAlive { .. } => return engine_error(Error::AttemptAlive, error),
        _ => return engine_error(Error::Disk, error),
    };
    StepFault::Environment {
        reason,
        what: error.to_string(),
        until: None,
    }
}

fn engine_error(reason: Error, error: &StartError) -> StepFault {
    let what = match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    };
    StepFault::Error { reason, what }
}

pub(crate) fn outputs(error: &impl ToString) -> StepFault {
    StepFault::Error {
        reason: Error::OutputsUnwritable,
        what: error.to_string(),
    }
}

fn utf8(path: &Path) -> Result<&str, StepFault> {
    path.to_str()
        .ok_or_else(|| outputs(&format_args!("{} is not UTF-8", path.display())))
}

/// Whether a terminal acts on `c`; line ends and tabs are text.
fn is_escape(c: char) -> bool {
    c.is_control() && !matches!(c, '\t' | '\n' | '\r')
}

/// Shortens a role's text to what fits in a line for people.
pub(crate) fn in_short(text: &str) -> String {
    cut(text.trim(), 200)
}
