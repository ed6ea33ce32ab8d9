//! The work source of a loop, and what it is shown of the world.

mod item;

use crate::audit::{AuditError, LoopEntry, LoopFacts, audit};
use crate::errand;
use crate::holder::{self, How, Wish};
use crate::interrupt::Interrupt;
use crate::lint;
use crate::setup::{Setup, SetupError, Surroundings};
use crate::store::{Level, read_state};
use crate::tasks::ProjectOnDisk;
use loop_core::answer::{Finished, StepFault};
use loop_core::config::{Argv, Config, WorkSourceKind};
use loop_core::outcome::Error;
use loop_core::state::State;
use loop_core::step::{Finishing, WorkTask};
use loop_core::{StepAnswer, Work};
use loop_worksource::{
    Backlog, Finish, Kinds, LoopView, Next, OptionError, Program, ProjectError, Ran, RunEnd,
    SourceError, SourceOptions, Surveyed, Violation, WorkSource, to_work,
};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// How much of a program's complaint is kept, in bytes.
const STDERR_LIMIT: u64 = 16 * 1024;

/// Makes the source that a configuration describes.
pub(crate) fn of(config: &Config) -> Result<Box<dyn WorkSource>, OptionError> {
    Ok(Kinds::default().choose(&options(config))?.source)
}

/// Returns the backlog that a configuration describes, if it is one.
pub(crate) fn backlog_of(config: &Config) -> Option<Backlog> {
    let is_backlog = config.work_source().kind() == WorkSourceKind::Backlog;
    Backlog::new(&options(config)).ok().filter(|_| is_backlog)
}

fn options(config: &Config) -> SourceOptions {
    let source = config.work_source();
    let argv = |argv: &Argv| argv.as_slice().to_vec();
    SourceOptions {
        kind: Some(source.kind().name().to_owned()),
        task: source.task.as_ref().map(|task| task.as_str().to_owned()),
        area: source.area.as_ref().map(|area| area.as_str().to_owned()),
        section: source.section.clone(),
        tick_when_done: source.tick_when_done(),
        command: source.command.as_ref().map(argv).unwrap_or_default(),
        done_command: source.done_command.as_ref().map(argv),
        timeout: source.timeout(),
        ..SourceOptions::default()
    }
}

/// What a source said for people and for the loop's log.
pub type Notes = Vec<(Level, String)>;

/// Says, while a source's program runs, whether it may go on.
pub(crate) type Poll<'a> = dyn FnMut() -> Wish + 'a;

/// Lets a program go on until somebody interrupts the whole process.
pub(crate) fn until(interrupt: &Interrupt) -> Wish {
    match interrupt.asked() {
        0 => Wish::GoOn,
        1 => Wish::End,
        _ => Wish::Kill,
    }
}

/// Asks a loop's source what is next. The notes are for the loop's log.
pub(crate) fn next(setup: &Setup, state: &State, poll: &mut Poll<'_>) -> (Work, Notes) {
    with_project(setup, poll, None, |project| {
        let answer = setup.source.next(&view(setup, state), project);
        let item = match &answer {
            Ok(Next::Found(found)) => item::keep(setup, state.tick + 1, &found.item),
            _ => Ok(None),
        };
        match (to_work(&answer), item) {
            (Work::Found(task), Ok(item)) => Work::Found(WorkTask { item, ..task }),
            (work, Ok(_)) => work,
            (_, Err(error)) => Work::Failed {
                what: format!("the item cannot be kept: {error}"),
            },
        }
    })
}

/// Lists every item of a loop's source, and how it stands, with what it says for
/// people. Changes nothing and waits for no tick, but a `command` source runs its
/// command.
///
/// # Errors
///
/// [`SourceError`] when the source cannot tell.
pub fn survey(
    setup: &Setup,
    state: &State,
    interrupt: &Interrupt,
) -> Result<(Vec<Surveyed>, Notes), SourceError> {
    // A tick that runs meanwhile has the loop's own files and lock.
    let beside = tempfile::tempdir().map_err(|error| ProjectError::new(&error))?;
    let mut poll = || until(interrupt);
    let (surveyed, notes) = with_project(setup, &mut poll, Some(beside.path()), |project| {
        setup.source.survey(&view(setup, state), project)
    });
    Ok((surveyed?, notes))
}

/// Tells a loop's source that the item of a complete task is done.
pub(crate) fn finish(
    setup: &Setup,
    finishing: &Finishing,
    poll: &mut Poll<'_>,
) -> (StepAnswer, Notes) {
    let failed = |what: String| {
        StepAnswer::Failed(StepFault::Error {
            reason: Error::SourceFailed,
            what,
        })
    };
    let item = match item::read(&finishing.item) {
        Ok(item) => item,
        Err(what) => {
            let conflict = Finished::Conflict { what };
            return (StepAnswer::Finish(conflict), Vec::new());
        }
    };
    with_project(setup, poll, None, |project| {
        match setup.source.finish(&item, project) {
            Ok(Finish::Conflict { what }) => StepAnswer::Finish(Finished::Conflict { what }),
            Ok(Finish::Nothing | Finish::Done | Finish::Before) => {
                StepAnswer::Finish(Finished::Done)
            }
            Err(error) => failed(error.to_string()),
        }
    })
}

fn view(setup: &Setup, state: &State) -> LoopView {
    let finished = state.finished.iter();
    LoopView {
        name: setup.name.clone(),
        current_task: state.current_task.clone(),
        phases: setup.rules().phases,
        parked: state.parked.clone(),
        finished: finished.map(|done| done.task.clone()).collect(),
        at: setup.clock.now(),
    }
}

/// Shows a source the project, and collects what it says of it. Its programs leave
/// what they print in the folder `beside`, if there is one.
fn with_project<T>(
    setup: &Setup,
    poll: &mut Poll<'_>,
    beside: Option<&Path>,
    ask: impl FnOnce(&mut ProjectOnDisk<'_>) -> T,
) -> (T, Notes) {
    let mut project = ProjectOnDisk::new(
        setup.project.root(),
        setup.tasks.clone(),
        Box::new(|program| run(setup, program, poll, beside)),
        Box::new(|| violations(setup)),
    );
    let answer = ask(&mut project);
    let notes = project.into_notes().into_iter();
    let notes = notes.map(|(level, text)| (level_of(level), text));
    (answer, notes.collect())
}

fn level_of(level: loop_worksource::Level) -> Level {
    match level {
        loop_worksource::Level::Info => Level::Info,
        loop_worksource::Level::Warning => Level::Warning,
        loop_worksource::Level::Error => Level::Error,
    }
}

/// Runs a source's program in the project, held like any other child.
fn run(
    setup: &Setup,
    program: &Program,
    poll: &mut Poll<'_>,
    beside: Option<&Path>,
) -> Result<Ran, ProjectError> {
    let failed = |error: &dyn std::error::Error| ProjectError::new(error);
    if beside.is_none() {
        std::fs::create_dir_all(setup.dir.outputs()).map_err(|error| failed(&error))?;
    }
    let root = setup.project.root();
    let mut command = errand::command(setup, &program.argv, root, "source", None);
    if let Some(beside) = beside {
        command.stdout = beside.join("stdout");
        command.stderr = beside.join("stderr");
        command.step_lock = beside.join("lock");
    }
    command.stdin = holder::Stdin::Bytes(program.stdin.clone());
    command.timeout = program.timeout;
    let ended = holder::spawn(&command)
        .map_err(|error| failed(&error))?
        .wait(poll)
        .map_err(|error| failed(&error))?;
    let limit = u64::try_from(program.limit).unwrap_or(u64::MAX);
    let stdout = read(&command.stdout, limit).map_err(|error| failed(&error))?;
    let stderr = read(&command.stderr, STDERR_LIMIT).map_err(|error| failed(&error))?;
    Ok(Ran {
        end: match ended.how {
            How::Exited(code) => RunEnd::Exited(code),
            How::Signaled(signal) => RunEnd::Signaled(signal),
            How::TimedOut | How::IdleTimedOut => RunEnd::TimedOut,
            How::Ended => RunEnd::Signaled(15),
        },
        truncated: ended.stdout.total > stdout.len() as u64,
        stdout,
        stderr: String::from_utf8_lossy(&stderr).into_owned(),
    })
}

fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Audits the loop's project.
fn violations(setup: &Setup) -> Result<Vec<Violation>, ProjectError> {
    let around = Surroundings {
        home: setup.home.clone(),
        project: setup.project.clone(),
        clock: setup.clock.clone(),
        environment: setup.environment.clone(),
    };
    let facts = loop_facts(&around).map_err(|error| ProjectError::new(&error))?;
    let report: Result<_, AuditError> = audit(&setup.tasks, &facts);
    Ok(report
        .map_err(|error| ProjectError::new(&error))?
        .violations)
}

/// Gathers what an audit has to know of a project's loops.
///
/// # Errors
///
/// What the system said, when the loops cannot be listed.
pub fn loop_facts(around: &Surroundings) -> io::Result<Vec<LoopFacts>> {
    let names = around.project.loops()?;
    Ok(names.into_iter().map(|name| facts(around, &name)).collect())
}

fn facts(around: &Surroundings, name: &str) -> LoopFacts {
    let setup = Setup::read(around, name);
    let state = setup
        .as_ref()
        .ok()
        .and_then(|setup| read_state(&setup.dir).ok())
        .map_or_else(State::new, |snapshot| snapshot.state);
    LoopFacts {
        entry: LoopEntry::of(name, &state),
        invalid: setup.as_ref().err().map(SetupError::to_string),
        missing_prompts: setup.as_ref().map(missing_prompts).unwrap_or_default(),
    }
}

fn missing_prompts(setup: &Setup) -> Vec<(String, String)> {
    let missing = lint::missing_prompts(setup).into_iter();
    missing
        .map(|(role, prompt)| (role.as_str().to_owned(), prompt))
        .collect()
}
