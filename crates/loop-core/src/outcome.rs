//! How a tick can end: the closed table of outcomes, reasons and exit codes.

use crate::exit;
use serde::{Deserialize, Serialize, de};
use std::fmt;

/// Declares a closed set of words: an enum that knows its spelling and its members.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum $name {
            $($(#[$doc])* #[serde(rename = $text)] $variant,)+
        }

        impl $name {
            /// Every member, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// Returns the word as it stands in files and JSON.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

words! {
    /// Why an attempt failed.
    Failure {
        /// The judge said so.
        Verdict = "verdict",
        /// The acceptance gate is red.
        GateRed = "gate_red",
        /// Implement exited with a code other than 0.
        Exit = "exit",
        /// Implement took too long.
        Timeout = "timeout",
        /// Implement was killed by a signal.
        Signal = "signal",
        /// Implement exited with 0 but said nothing and changed nothing.
        Empty = "empty",
    }
}

words! {
    /// Why there is no judgement although the verifier was asked.
    VerifyFault {
        /// Its answer holds no verdict.
        Unreadable = "unreadable",
        /// Its answer holds verdicts that disagree.
        Conflicting = "conflicting",
        /// It exited with a code other than 0, or was killed by a signal.
        Exit = "exit",
        /// It took too long.
        Timeout = "timeout",
        /// It changed what it was judging.
        Void = "void",
    }
}

words! {
    /// What is wrong around the loop rather than with the work.
    EnvironmentFault {
        /// The harness's program was not found.
        MissingProgram = "missing_program",
        /// The harness is not logged in.
        Auth = "auth",
        /// The harness was told to slow down.
        RateLimit = "rate_limit",
        /// The account's quota is used up.
        Quota = "quota",
        /// The harness cannot reach its service.
        Offline = "offline",
        /// The prompt does not fit into an argument.
        PromptTooLarge = "prompt_too_large",
        /// The prompt holds a NUL, or starts with `-` where that would be an option.
        PromptUnsendable = "prompt_unsendable",
        /// The workspace's set-up command failed.
        SetupFailed = "setup_failed",
    }
}

words! {
    /// What ended a tick before its time.
    Interruption {
        /// A signal to the engine.
        Signal = "signal",
        /// `loop stop`.
        Stop = "stop",
        /// The engine died, and the next one found the tick open.
        Crash = "crash",
    }
}

words! {
    /// Why a loop waits for a person.
    Halt {
        /// Every attempt is used.
        MaxIterations = "max_iterations",
        /// The cost cap is reached.
        MaxCost = "max_cost",
        /// The token cap is reached.
        MaxTokens = "max_tokens",
        /// The task's running time is used up.
        MaxWall = "max_wall",
        /// The day's ticks are used up.
        MaxTicks = "max_ticks",
        /// The score stopped rising.
        ScorePlateau = "score_plateau",
        /// Attempts no longer change anything.
        NoProgress = "no_progress",
        /// The harness failed too often in a row.
        HarnessFailures = "harness_failures",
        /// A person has to approve the next phase.
        ApprovalRequired = "approval_required",
        /// Something is missing that no attempt can supply.
        Blocked = "blocked",
        /// It passed with a score too low to believe.
        LowScore = "low_score",
        /// Orchestrate, or a person, handed the task over.
        Escalated = "escalated",
        /// A change landed outside `file_scope`.
        FileScope = "file_scope",
        /// A protected file was changed.
        Protected = "protected",
        /// Something outside the worktree was changed.
        OutsideChanged = "outside_changed",
        /// The task is not where the loop left it.
        Conflict = "conflict",
        /// Something frozen was changed.
        Tampered = "tampered",
        /// The worktree's administration was replaced.
        WorktreeReplaced = "worktree_replaced",
        /// The verifier gave no judgement too often in a row.
        VerifierBroken = "verifier_broken",
        /// The planner broke its contract.
        PlannerBroken = "planner_broken",
        /// The same environment fault twice in a row.
        Environment = "environment",
        /// The gate was green before any work.
        GateGreen = "gate_green",
        /// The gate cannot run.
        GateBroken = "gate_broken",
        /// The gate is still the shipped default.
        GateUnwritten = "gate_unwritten",
        /// The gate gives different answers on the same tree.
        GateFlaky = "gate_flaky",
        /// The planner refused the task.
        Refused = "refused",
    }
}

impl Halt {
    /// Returns the exit code that `--exit-code` gives for it.
    #[must_use]
    pub fn exit_code(self) -> u8 {
        match self {
            Self::MaxIterations
            | Self::MaxCost
            | Self::MaxTokens
            | Self::MaxWall
            | Self::MaxTicks => exit::CAP,
            Self::ScorePlateau | Self::NoProgress | Self::HarnessFailures => exit::STUCK,
            Self::ApprovalRequired
            | Self::Blocked
            | Self::LowScore
            | Self::Escalated
            | Self::FileScope
            | Self::Protected
            | Self::OutsideChanged
            | Self::Conflict => exit::PERSON,
            Self::Tampered | Self::WorktreeReplaced => exit::TAMPERED,
            Self::VerifierBroken | Self::PlannerBroken => exit::CONTRACT,
            Self::Environment => exit::ENVIRONMENT,
            Self::GateGreen | Self::GateBroken | Self::GateUnwritten | Self::GateFlaky => {
                exit::GATE
            }
            Self::Refused => exit::REFUSED,
        }
    }

    /// Whether a limit of `brakes` is behind it.
    #[must_use]
    pub fn is_brake(self) -> bool {
        matches!(
            self,
            Self::MaxIterations
                | Self::MaxCost
                | Self::MaxTokens
                | Self::MaxWall
                | Self::MaxTicks
                | Self::ScorePlateau
                | Self::NoProgress
                | Self::HarnessFailures
        )
    }

    /// Whether it puts the task aside instead, where the loop says so (decision
    /// D-18). The others concern the loop, or what nobody may work around.
    #[must_use]
    pub fn parks(self) -> bool {
        matches!(
            self,
            Self::MaxIterations
                | Self::ScorePlateau
                | Self::NoProgress
                | Self::LowScore
                | Self::Blocked
                | Self::Escalated
                | Self::HarnessFailures
                | Self::FileScope
                | Self::Protected
                | Self::GateGreen
                | Self::ApprovalRequired
        )
    }

    /// Whether this is a brake on, or a judgement about, the task's work, so
    /// that approving it gives the task a fresh start (decision D-7).
    #[must_use]
    pub fn is_about_work(self) -> bool {
        matches!(
            self,
            Self::MaxIterations
                | Self::ScorePlateau
                | Self::NoProgress
                | Self::HarnessFailures
                | Self::Blocked
                | Self::LowScore
                | Self::Escalated
                | Self::FileScope
                | Self::Protected
        )
    }
}

/// Why a tick did nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skip {
    /// The source has nothing.
    NoWork,
    /// A single loop has no task.
    NoCurrentTask,
    /// Paused by a person.
    Paused,
    /// Another tick of this loop is running.
    Locked,
    /// Outside the schedule's window.
    Window,
    /// A known time has to pass first.
    NotBefore,
    /// A role declares a context window that is too small.
    ContextFloor,
    /// The loop waits for a person, for this reason.
    HumanIntervention(Halt),
    /// The project's loops are not trusted by this user.
    Untrusted,
}

impl Skip {
    /// Every reason that is a skip's own, so all but a halt.
    pub const ITS_OWN: &[Self] = &[
        Self::NoWork,
        Self::NoCurrentTask,
        Self::Paused,
        Self::Locked,
        Self::Window,
        Self::NotBefore,
        Self::ContextFloor,
        Self::Untrusted,
    ];

    /// Returns the word as it stands in files and JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoWork => "no_work",
            Self::NoCurrentTask => "no_current_task",
            Self::Paused => "paused",
            Self::Locked => "locked",
            Self::Window => "window",
            Self::NotBefore => "not_before",
            Self::ContextFloor => "context_floor",
            Self::HumanIntervention(_) => "human_intervention",
            Self::Untrusted => "untrusted",
        }
    }

    fn exit_code(self) -> u8 {
        match self {
            Self::NoWork | Self::NoCurrentTask => exit::DONE,
            Self::Paused | Self::Locked | Self::Window | Self::NotBefore => exit::NOT_YET,
            Self::ContextFloor => exit::USAGE,
            Self::HumanIntervention(halt) => halt.exit_code(),
            Self::Untrusted => exit::PERSON,
        }
    }
}

words! {
    /// What the engine could not do.
    Error {
        /// The worktree could not be made or used.
        WorktreeFailed = "worktree_failed",
        /// Nothing can be written to `outputs/`.
        OutputsUnwritable = "outputs_unwritable",
        /// The work source failed.
        SourceFailed = "source_failed",
        /// The loop's state vanished while a tick ran.
        StateRemoved = "state_removed",
        /// A process of an earlier attempt is alive.
        AttemptAlive = "attempt_alive",
        /// A file could not be read or written.
        Disk = "disk",
        /// The configuration is wrong.
        Config = "config",
        /// The state on disk cannot be trusted.
        State = "state",
    }
}

/// How a tick ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The work was judged good.
    Pass,
    /// The attempt failed; the next tick tries again.
    Fail(Failure),
    /// No attempt can succeed until something is supplied; the text says what.
    Blocked(String),
    /// The verifier gave no judgement.
    VerifyError(VerifyFault),
    /// Something around the loop is wrong.
    Environment(EnvironmentFault),
    /// The tick was ended before its time.
    Interrupted(Interruption),
    /// Nothing was done.
    Skipped(Skip),
    /// A person is needed.
    HumanIntervention(Halt),
    /// The task was put aside with its reason; the next one is taken.
    Parked(Halt),
    /// There is no more work; `true` when tasks were parked on the way.
    Done {
        /// Whether some tasks were put aside.
        parked: bool,
    },
    /// The engine could not do its part.
    Error(Error),
}

impl Outcome {
    /// Returns the outcome's word.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail(_) => "fail",
            Self::Blocked(_) => "blocked",
            Self::VerifyError(_) => "verify_error",
            Self::Environment(_) => "environment",
            Self::Interrupted(_) => "interrupted",
            Self::Skipped(_) => "skipped",
            Self::HumanIntervention(_) => "human_intervention",
            Self::Parked(_) => "parked",
            Self::Done { .. } => "done",
            Self::Error(_) => "error",
        }
    }

    /// Returns the reason's word; for `blocked`, the text.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Pass | Self::Done { parked: false } => None,
            Self::Fail(reason) => Some(reason.as_str()),
            Self::Blocked(what) => Some(what),
            Self::VerifyError(reason) => Some(reason.as_str()),
            Self::Environment(reason) => Some(reason.as_str()),
            Self::Interrupted(reason) => Some(reason.as_str()),
            Self::Skipped(reason) => Some(reason.as_str()),
            Self::HumanIntervention(halt) | Self::Parked(halt) => Some(halt.as_str()),
            Self::Done { parked: true } => Some("parked"),
            Self::Error(reason) => Some(reason.as_str()),
        }
    }

    /// Returns the exit code that `--exit-code`, `start` and `run` give for it.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Pass | Self::Done { parked: false } => exit::DONE,
            Self::Fail(_) | Self::Blocked(_) | Self::VerifyError(_) | Self::Parked(_) => {
                exit::NOT_YET
            }
            Self::Environment(_) => exit::ENVIRONMENT,
            Self::Interrupted(_) => exit::INTERRUPTED,
            Self::Skipped(skip) => skip.exit_code(),
            Self::HumanIntervention(halt) => halt.exit_code(),
            Self::Done { parked: true } => exit::PERSON,
            Self::Error(Error::Config | Error::State) => exit::USAGE,
            Self::Error(_) => exit::FAILED,
        }
    }

    /// Returns the exit code of a plain `loop tick`: a timer must not see an
    /// ordinary outcome as a failed unit.
    #[must_use]
    pub fn plain_exit_code(&self) -> u8 {
        match self {
            Self::Error(_) | Self::Interrupted(_) => self.exit_code(),
            _ => exit::DONE,
        }
    }

    fn read(outcome: &str, reason: Option<&str>, halt: Option<Halt>) -> Option<Self> {
        fn word<T: Copy>(
            all: &[T],
            text: Option<&str>,
            spell: impl Fn(T) -> &'static str,
        ) -> Option<T> {
            all.iter().copied().find(|word| Some(spell(*word)) == text)
        }
        let halted = || word(Halt::ALL, reason, Halt::as_str);
        Some(match outcome {
            "pass" if reason.is_none() => Self::Pass,
            "fail" => Self::Fail(word(Failure::ALL, reason, Failure::as_str)?),
            "blocked" => Self::Blocked(reason?.to_owned()),
            "verify_error" => {
                Self::VerifyError(word(VerifyFault::ALL, reason, VerifyFault::as_str)?)
            }
            "environment" => Self::Environment(word(
                EnvironmentFault::ALL,
                reason,
                EnvironmentFault::as_str,
            )?),
            "interrupted" => {
                Self::Interrupted(word(Interruption::ALL, reason, Interruption::as_str)?)
            }
            "skipped" => Self::Skipped(match (reason, halt) {
                (Some("human_intervention"), Some(halt)) => Skip::HumanIntervention(halt),
                (_, Some(_)) => return None,
                (_, None) => word(Skip::ITS_OWN, reason, Skip::as_str)?,
            }),
            "human_intervention" => Self::HumanIntervention(halted()?),
            "parked" => Self::Parked(halted()?),
            "done" => Self::Done {
                parked: match reason {
                    None => false,
                    Some("parked") => true,
                    Some(_) => return None,
                },
            },
            "error" => Self::Error(word(Error::ALL, reason, Error::as_str)?),
            _ => return None,
        })
    }
}

/// The shape of an outcome in files: two words, and for a skip because of a
/// halted loop the reason of the halt.
#[derive(Serialize, Deserialize)]
struct Written {
    outcome: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    halt: Option<Halt>,
}

impl Serialize for Outcome {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Written {
            outcome: self.as_str().to_owned(),
            reason: self.reason().map(str::to_owned),
            halt: match self {
                Self::Skipped(Skip::HumanIntervention(halt)) => Some(*halt),
                _ => None,
            },
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Outcome {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = Written::deserialize(deserializer)?;
        Self::read(&written.outcome, written.reason.as_deref(), written.halt).ok_or_else(|| {
            de::Error::custom(format_args!(
                "no outcome `{}` with reason {:?}",
                written.outcome, written.reason
            ))
        })
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())?;
        match self.reason() {
            Some(reason) => write!(f, " ({reason})"),
            None => Ok(()),
        }
    }
}
