//! A command of the gate's, held like any other child, with its output read back.

use super::scratch::Scratch;
use super::{At, GateContext, GateError};
use crate::harness::{policy, role_config};
use crate::holder::{Command, Environment, How, Place, StartError, Wish, spawn};
use loop_core::Role;
use loop_core::gate::GateEnd;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How much of the output is kept and read, in bytes: half of it from the start,
/// half from the end.
const OUTPUT_CAP: u64 = 8 << 20;

/// Runs what follows it with both streams in one, in their order.
const MERGED: [&str; 4] = ["/bin/sh", "-c", "exec \"$@\" 2>&1", "sh"];

/// Variables by which a build finds what an earlier one left elsewhere.
const LEFTOVERS: [&str; 3] = [
    "CARGO_TARGET_DIR",
    "CARGO_BUILD_TARGET_DIR",
    "CARGO_BUILD_BUILD_DIR",
];

/// The folder in which Python keeps compiled code during one run.
const PYTHON: &str = "python";

/// A command to run.
pub(super) struct Job<'a> {
    pub(super) argv: &'a [String],
    /// The working directory.
    pub(super) folder: &'a Path,
    /// The log is `outputs/<stem>.log`.
    pub(super) stem: &'a str,
    pub(super) timeout: Duration,
    /// The folder for temporary files, in a clean checkout.
    pub(super) clean: Option<&'a Path>,
}

/// A command that has ended.
pub(super) struct Output {
    pub(super) end: GateEnd,
    /// What it printed; a byte that is no UTF-8 is replaced.
    pub(super) text: String,
    pub(super) log: PathBuf,
    pub(super) warnings: Vec<String>,
    pub(super) elapsed: Duration,
}

/// Returns what the gate sees of the environment (decision D-23): what the
/// agents see, and the role `gate`, as it runs an agent's code. A clean checkout
/// has a folder for temporary files of its own, and nothing leads back into the
/// tree that the agent worked in.
pub(super) fn environment(context: &GateContext<'_>, clean: Option<&Path>) -> Environment {
    let setup = context.setup;
    let place = Place {
        loop_name: setup.name.clone().into(),
        role: Some("gate".into()),
        tick: context.tick,
        project: setup.kept_in.root().into(),
        home: setup.home.root().into(),
        diff: None,
    };
    let own = setup
        .config
        .harness_of(role_config(&setup.config, Role::Implement));
    let own = own.and_then(|choice| choice.as_slice().first()?.described()?.env.clone());
    let mut policy = policy(&own.unwrap_or_default());
    let Some(tmp) = clean else {
        return Environment::new(setup.environment.iter().cloned(), &policy, &place);
    };
    policy.unset.extend(LEFTOVERS.map(OsString::from));
    let folder = context.top();
    let leads_back = |value: &OsString| {
        let folder = folder.as_os_str().as_bytes();
        value
            .as_bytes()
            .windows(folder.len())
            .any(|part| part == folder)
    };
    // PATH stays: what it finds first in the tree is part of the fingerprint.
    let inherited = setup.environment.iter().cloned();
    let inherited = inherited.filter(|(name, value)| name == "PATH" || !leads_back(value));
    let mut environment = Environment::new(inherited, &policy, &place);
    environment.set("TMPDIR", tmp);
    environment
}

/// Runs a command to its end.
///
/// A program that is missing or cannot be executed ends like one that a shell
/// did not find: with 127 or 126.
pub(super) fn run(
    context: &GateContext<'_>,
    job: &Job<'_>,
    poll: &mut dyn FnMut() -> Wish,
) -> Result<Output, GateError> {
    let outputs = context.setup.dir.outputs();
    fs::create_dir_all(&outputs).at("make", &outputs)?;
    let log = outputs.join(format!("{}.log", job.stem));
    let stderr = outputs.join(format!("{}-stderr.log", job.stem));
    // Python takes compiled code beside a source for that source, and asks nobody
    // what it was compiled from.
    let scratch = Scratch::make(context.setup, &[PYTHON])?;
    let mut environment = environment(context, job.clean);
    environment.set("PYTHONPYCACHEPREFIX", scratch.at(PYTHON));
    let mut command = Command::new(
        job.argv.iter().map(Into::into).collect(),
        job.folder.to_owned(),
        environment,
        [log.clone(), stderr.clone()],
        context.setup.dir.step_lock(),
    );
    command.timeout = job.timeout;
    command.output_cap = OUTPUT_CAP;
    let unstarted = |code: i32, error: &StartError| {
        let text = format!("{error}\n");
        fs::write(&log, &text).at("write", &log)?;
        Ok(Output {
            end: GateEnd::Exited(code),
            text,
            log: log.clone(),
            warnings: Vec::new(),
            elapsed: Duration::ZERO,
        })
    };
    match command.preflight() {
        Ok(_) => {}
        Err(error @ StartError::ProgramNotFound { .. }) => return unstarted(127, &error),
        Err(error @ StartError::NotExecutable { .. }) => return unstarted(126, &error),
        Err(error) => return Err(error.into()),
    }
    let merged = MERGED.iter().map(OsString::from);
    command.argv = merged.chain(std::mem::take(&mut command.argv)).collect();
    let mut warnings = Vec::new();
    let ended = match spawn(&command)?.wait(&mut *poll) {
        Ok(ended) => ended,
        // Somebody killed the process that held it; what it said is lost.
        Err(error) => {
            return Ok(Output {
                end: GateEnd::Signaled(9),
                text: String::new(),
                log,
                warnings: vec![error.to_string()],
                elapsed: Duration::ZERO,
            });
        }
    };
    if !ended.survivors.is_empty() {
        warnings.push(format!(
            "processes that cannot be ended: {:?}",
            ended.survivors
        ));
    }
    let end = match ended.how {
        How::Exited(code) => GateEnd::Exited(code),
        How::Signaled(signal) => GateEnd::Signaled(signal),
        How::TimedOut | How::IdleTimedOut => GateEnd::TimedOut,
        How::Ended => return Err(GateError::Stopped),
    };
    let mut bytes = Vec::new();
    ended.stdout.copy(&log, &mut bytes).at("read", &log)?;
    if ended.stderr.total == 0 {
        // Everything went to the one log; an empty file beside it says nothing.
        let _gone = fs::remove_file(&stderr);
    }
    Ok(Output {
        end,
        text: String::from_utf8_lossy(&bytes).into_owned(),
        log,
        warnings,
        elapsed: ended.elapsed,
    })
}
