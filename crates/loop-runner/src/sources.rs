//! The work source of a loop, and what it is shown of the world.

use crate::audit::{AuditError, LoopEntry, LoopFacts, audit};
use crate::errand;
use crate::holder::{self, How, Wish};
use crate::interrupt::Interrupt;
use crate::lint;
use crate::setup::{Setup, SetupError, Surroundings};
use crate::store::{Level, read_state};
use crate::tasks::ProjectOnDisk;
use loop_core::Work;
use loop_core::config::{Argv, Config};
use loop_core::rules::Rules;
use loop_core::state::State;
use loop_worksource::{
    Kinds, LoopView, OptionError, Program, ProjectError, Ran, RunEnd, SourceOptions, Violation,
    WorkSource, to_work,
};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// How much of a program's complaint is kept, in bytes.
const STDERR_LIMIT: u64 = 16 * 1024;

/// Makes the source that a configuration describes.
pub(crate) fn of(config: &Config) -> Result<Box<dyn WorkSource>, OptionError> {
    let source = config.work_source();
    let argv = |argv: &Argv| argv.as_slice().to_vec();
    let options = SourceOptions {
        kind: Some(source.kind().name().to_owned()),
        task: source.task.as_ref().map(|task| task.as_str().to_owned()),
        area: source.area.as_ref().map(|area| area.as_str().to_owned()),
        section: source.section.clone(),
        tick_when_done: source.tick_when_done(),
        command: source.command.as_ref().map(argv).unwrap_or_default(),
        done_command: source.done_command.as_ref().map(argv),
        timeout: source.timeout(),
        ..SourceOptions::default()
    };
    Ok(Kinds::default().choose(&options)?.source)
}

/// Asks a loop's source what is next. The notes are for the loop's log.
pub(crate) fn next(
    setup: &Setup,
    state: &State,
    interrupt: &Interrupt,
) -> (Work, Vec<(Level, String)>) {
    let view = LoopView {
        name: setup.name.clone(),
        current_task: state.current_task.clone(),
        phases: Rules::of(&setup.config).phases,
        parked: std::collections::BTreeMap::new(),
        finished: state
            .finished
            .iter()
            .map(|done| done.task.clone())
            .collect(),
        at: setup.clock.now(),
    };
    let mut project = ProjectOnDisk::new(
        setup.project.root(),
        setup.tasks.clone(),
        Box::new(|program| run(setup, program, interrupt)),
        Box::new(|| violations(setup)),
    );
    let work = to_work(&setup.source.next(&view, &mut project));
    let notes = project.into_notes().into_iter();
    (
        work,
        notes.map(|(level, text)| (level_of(level), text)).collect(),
    )
}

fn level_of(level: loop_worksource::Level) -> Level {
    match level {
        loop_worksource::Level::Info => Level::Info,
        loop_worksource::Level::Warning => Level::Warning,
        loop_worksource::Level::Error => Level::Error,
    }
}

/// Runs a source's program in the project, held like any other child.
fn run(setup: &Setup, program: &Program, interrupt: &Interrupt) -> Result<Ran, ProjectError> {
    let failed = |error: &dyn std::error::Error| ProjectError::new(error);
    let outputs = setup.dir.outputs();
    std::fs::create_dir_all(&outputs).map_err(|error| failed(&error))?;
    let root = setup.project.root();
    let mut command = errand::command(setup, &program.argv, root, "source", None);
    command.stdin = holder::Stdin::Bytes(program.stdin.clone());
    command.timeout = program.timeout;
    let ended = holder::spawn(&command)
        .map_err(|error| failed(&error))?
        .wait(|| match interrupt.asked() {
            0 => Wish::GoOn,
            1 => Wish::End,
            _ => Wish::Kill,
        })
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
