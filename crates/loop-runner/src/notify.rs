//! Tells people what came of a tick, through commands of theirs.
//!
//! After the tick is closed and its lock is free, so that nothing here delays a
//! tick of another process. What is not told is not told later: after a crash
//! nobody knows whether the command ran.

mod background;

pub use background::Background;

use crate::causes::with_causes;
use crate::errand;
use crate::harness::role_config;
use crate::holder::{Command, Ended, How, Stdin, WaitError, Wish, spawn};
use crate::interrupt::Interrupt;
use crate::setup::Setup;
use crate::sources::until;
use crate::store::{Level, note_outside};
use crate::watch::Watch;
use loop_core::Role;
use loop_core::config::Notify;
use loop_core::notice::{Message, Notice, Secrets, Sender};
use std::fs;
use std::time::Duration;

/// How long a command gets.
const TIMEOUT: Duration = Duration::from_secs(30);
/// How much of a command's output is kept, in bytes.
const OUTPUT_CAP: u64 = 256 * 1024;
/// How long the loop's log is waited for to say that somebody was not told.
const LOG_PATIENCE: Duration = Duration::from_secs(3);
/// The file that is locked while a command runs. It is not the step's: a tick that
/// begins meanwhile must not wait for it.
const LOCK: &str = "notify.lock";

/// Messages that are ready to be sent.
#[derive(Debug, Default)]
pub struct Messages {
    commands: Vec<(String, Command)>,
    /// What went wrong already.
    failures: Vec<String>,
}

/// Tells of `notices` whoever the loop's configuration names, one command after
/// the other. One that fails is a warning on `watch` and in the loop's log, and
/// changes nothing else.
pub fn tell(setup: &Setup, notices: &[Notice], interrupt: &Interrupt, watch: &mut dyn Watch) {
    let failures = Messages::new(setup, notices).send(interrupt);
    report(setup, &failures, watch);
}

impl Messages {
    /// Makes the messages of `notices`; sends nothing.
    #[must_use]
    pub fn new(setup: &Setup, notices: &[Notice]) -> Self {
        let mut messages = Self::default();
        let told: Vec<(&Notice, usize, &Notify)> = notices
            .iter()
            .flat_map(|notice| {
                let entries = setup.config.notify().iter().enumerate();
                let told = entries.filter(|(_, entry)| notice.concerns(&entry.on));
                told.map(move |(index, entry)| (notice, index, entry))
            })
            .collect();
        if told.is_empty() {
            return messages;
        }
        if let Err(error) = fs::create_dir_all(setup.dir.outputs()) {
            let path = setup.dir.outputs();
            messages.failures.push(format!(
                "notify: nobody was told: cannot make {}: {error}",
                path.display()
            ));
            return messages;
        }
        let secrets = secrets(setup);
        for (notice, index, entry) in told {
            let what = format!("notify[{index}] of {}", notice.event);
            match command(setup, notice, index, entry, &secrets) {
                Ok(command) => messages.commands.push((what, command)),
                Err(error) => messages.failures.push(format!("{what}: {error}")),
            }
        }
        messages
    }

    /// Whether there is nothing to send, nor to complain of.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.commands.is_empty() && self.failures.is_empty()
    }

    /// Sends them, and returns who was not told, a sentence each. `interrupt` ends
    /// a command that runs; those after it are not started.
    #[must_use]
    pub fn send(self, interrupt: &Interrupt) -> Vec<String> {
        let mut failures = self.failures;
        for (what, command) in self.commands {
            if until(interrupt) != Wish::GoOn {
                failures.push(format!("{what}: not started, as the engine ends"));
                continue;
            }
            let ended = spawn(&command).map(|running| running.wait(|| until(interrupt)));
            let failure = match ended {
                Ok(ended) => failure(ended, &command),
                Err(error) => Some(with_causes(&error)),
            };
            failures.extend(failure.map(|failure| format!("{what}: {failure}")));
        }
        failures
    }
}

/// Says who was not told, to whoever watches and in the loop's log.
pub(crate) fn report(setup: &Setup, failures: &[String], watch: &mut dyn Watch) {
    if failures.is_empty() {
        return;
    }
    let lines: Vec<_> = failures
        .iter()
        .map(|failure| (Level::Warning, failure.clone()))
        .collect();
    for failure in failures {
        watch.warning(failure);
    }
    if let Err(error) = note_outside(&setup.dir, setup.clock.now(), &lines, LOG_PATIENCE) {
        let why = with_causes(&error);
        watch.warning(&format!("that is not in the loop's log: {why}"));
    }
}

/// Describes the call of one entry for one notice.
fn command(
    setup: &Setup,
    notice: &Notice,
    index: usize,
    entry: &Notify,
    secrets: &Secrets,
) -> Result<Command, serde_json::Error> {
    let project = setup.kept_in.root().to_string_lossy();
    let from = Sender {
        loop_name: &setup.name,
        project: &project,
        at: setup.clock.now(),
    };
    let message = notice.message(&from, secrets);
    let tick = notice
        .tick
        .map_or_else(String::new, |tick| format!("tick{tick}-"));
    let stem = format!("{tick}notify-{index}-{}", notice.event);
    let argv = entry.command.as_slice();
    let folder = setup.kept_in.root();
    let mut command = errand::command(setup, argv, folder, &stem, notice.tick);
    for (name, value) in variables(&message) {
        command.environment.set(name, value);
    }
    let mut text = serde_json::to_vec(&message)?;
    text.push(b'\n');
    command.stdin = Stdin::Bytes(text);
    command.timeout = TIMEOUT;
    command.output_cap = OUTPUT_CAP;
    command.step_lock = setup.dir.root().join(LOCK);
    // Another tick's commands have their own time.
    command.lock_patience = TIMEOUT;
    Ok(command)
}

/// What a command that reads no JSON goes by.
fn variables(message: &Message) -> [(&'static str, String); 4] {
    [
        ("AUTOMATON_EVENT", message.event.to_string()),
        (
            "AUTOMATON_REASON",
            message.reason.clone().unwrap_or_default(),
        ),
        ("AUTOMATON_WHY", message.why.clone()),
        (
            "AUTOMATON_DO",
            message.what_to_do.clone().unwrap_or_default(),
        ),
    ]
}

/// Gathers what no message may hold: what the engine's environment and the loop's
/// harnesses have under the names of secrets.
fn secrets(setup: &Setup) -> Secrets {
    let inherited = setup.environment.iter();
    let inherited = inherited.filter_map(|(name, value)| Some((name.to_str()?, value.to_str()?)));
    let roles = [Role::Plan, Role::Implement, Role::Verify, Role::Orchestrate];
    let harnesses = roles
        .into_iter()
        .filter_map(|role| setup.config.harness_of(role_config(&setup.config, role)));
    let set = harnesses
        .flat_map(|choice| choice.as_slice())
        .filter_map(|harness| harness.described()?.env.as_ref()?.set.as_ref())
        .flatten()
        .map(|(name, value)| (name.as_str(), value.as_str()));
    Secrets::of(inherited.chain(set))
}

/// Says what went wrong with a command, if anything did.
fn failure(ended: Result<Ended, WaitError>, command: &Command) -> Option<String> {
    let see = command.stderr.display();
    Some(match ended {
        Ok(ended) => match ended.how {
            How::Exited(0) => return None,
            How::Exited(code) => format!("exited with {code}; see {see}"),
            How::Signaled(signal) => format!("was killed by signal {signal}; see {see}"),
            How::TimedOut | How::IdleTimedOut => {
                format!("took more than {} s; see {see}", TIMEOUT.as_secs())
            }
            How::Ended => "was ended with the engine".to_owned(),
        },
        Err(error) => with_causes(&error),
    })
}
