//! The checks of a trial: what is asked, and what has to come of it.

use super::stage::{Outcome, Stage};
use super::{CheckResult, Finding};
use crate::call::Why;
use crate::holder::Wish;
use crate::model_server::{Step, Usage};
use loop_core::answer::{CallEnd, StepFault};
use loop_core::outcome::EnvironmentFault;
use loop_core::profile::Tokens;
use std::fs;
use std::time::Duration;

/// How long a call may take that has to come to its end.
const PATIENCE: Duration = Duration::from_secs(300);
/// How long a call that hangs is waited for.
const SHORT: Duration = Duration::from_secs(20);
/// A prompt that no single argument can carry, in bytes.
const LONG: usize = 300 * 1024;
/// A long answer, in bytes.
const HUGE: usize = 512 * 1024;
/// What the harness is asked to write.
const FILE: &str = "trial.txt";
const CONTENT: &str = "it works";
/// What it is asked to say.
const WORD: &str = "TRIAL-OVER";

/// What is tried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// It writes a file by its own tool, and its last words are found.
    Success,
    /// It tells what that used.
    Cost,
    /// A prompt that starts with `-` is a prompt.
    LeadingDash,
    /// So is one of 300 KB.
    LongPrompt,
    /// A long answer is read whole.
    HugeOutput,
    /// A login that is refused is a fault around the loop.
    Auth,
    /// So is a service that says "slow down".
    Limit,
    /// One that says nothing is ended in time.
    Hang,
    /// Nothing that it started is left.
    Orphans,
}

impl Check {
    /// Every check, in the order in which they are made.
    pub const ALL: [Self; 9] = [
        Self::Success,
        Self::Cost,
        Self::LeadingDash,
        Self::LongPrompt,
        Self::HugeOutput,
        Self::Auth,
        Self::Limit,
        Self::Hang,
        Self::Orphans,
    ];

    /// Returns the check's word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Cost => "cost",
            Self::LeadingDash => "leading_dash",
            Self::LongPrompt => "long_prompt",
            Self::HugeOutput => "huge_output",
            Self::Auth => "auth",
            Self::Limit => "limit",
            Self::Hang => "hang",
            Self::Orphans => "orphans",
        }
    }

    /// Returns the text by which the scripted model knows what it is asked.
    pub(super) fn marker(self) -> &'static str {
        match self {
            Self::Success | Self::Cost => "trial: success",
            Self::LeadingDash => "trial: leading dash",
            Self::LongPrompt => "trial: long prompt",
            Self::HugeOutput => "trial: huge output",
            Self::Auth => "trial: auth",
            Self::Limit => "trial: limit",
            Self::Hang => "trial: hang",
            Self::Orphans => "trial: orphans",
        }
    }

    /// Returns what the scripted model answers.
    pub(super) fn steps(self) -> Option<Vec<Step>> {
        let say = |text: &str| Step::Say(text.to_owned());
        let refuse = |status, message: &str| Step::Error {
            status,
            retry_after: (status == 429).then_some(1),
            message: message.to_owned(),
            times: None,
        };
        Some(match self {
            Self::Success => vec![
                Step::Write {
                    path: FILE.to_owned(),
                    content: format!("{CONTENT}\n"),
                },
                say(WORD),
            ],
            Self::Cost => return None,
            Self::LeadingDash | Self::LongPrompt => vec![say(WORD)],
            Self::HugeOutput => vec![say(&format!("{}{WORD}", "x".repeat(HUGE)))],
            Self::Auth => vec![refuse(401, "Incorrect API key provided"), say("never said")],
            Self::Limit => vec![refuse(429, "Rate limit reached"), say("never said")],
            Self::Hang => vec![Step::Hang],
            Self::Orphans => vec![
                Step::Shell(
                    "sleep 86399 >/dev/null 2>&1 & setsid sleep 86399 >/dev/null 2>&1 & echo started"
                        .to_owned(),
                ),
                say(WORD),
            ],
        })
    }

    pub(super) fn run(self, stage: &mut Stage, poll: &dyn Fn() -> Wish) -> Finding {
        let only_offline = matches!(
            self,
            Self::HugeOutput | Self::Auth | Self::Limit | Self::Hang | Self::Orphans
        );
        if only_offline && !stage.is_offline() {
            return self.skipped("the real service is not made to do that; try --offline");
        }
        let marker = self.marker();
        let end = format!("When you are done, answer with the word {WORD} and nothing else.");
        let just_answer = format!("This is only a test. Do nothing. {end}");
        match self {
            Self::Success => {
                let task = format!(
                    "{marker}\nWrite a file called {FILE} in the current folder, whose only line \
                     is: {CONTENT}\n{end}"
                );
                let outcome = stage.call(&task, PATIENCE, poll);
                self.wrote(stage, &outcome)
            }
            Self::Cost => self.cost(stage, poll),
            Self::LeadingDash => {
                let prompt = format!("--help\n- {marker}\n{just_answer}");
                self.said(&stage.call(&prompt, PATIENCE, poll))
            }
            Self::LongPrompt => {
                let filler = "All of this is filler; there is nothing to do about it. "
                    .repeat(LONG / 56 + 1);
                let prompt = format!("{marker}\n{filler}\n{just_answer}");
                self.said(&stage.call(&prompt, PATIENCE, poll))
            }
            Self::HugeOutput => self.said(&stage.call(marker, PATIENCE, poll)),
            Self::Auth => {
                let outcome = stage.call(marker, PATIENCE, poll);
                self.refused(&outcome, &[EnvironmentFault::Auth])
            }
            Self::Limit => {
                let outcome = stage.call(marker, PATIENCE, poll);
                self.refused(
                    &outcome,
                    &[EnvironmentFault::RateLimit, EnvironmentFault::Quota],
                )
            }
            Self::Hang => match stage.call(marker, SHORT, poll) {
                Ok(ran) if matches!(ran.called.end, CallEnd::TimedOut(_)) => {
                    self.nothing_left(stage, "it was ended when its time was up")
                }
                outcome => self.failed(format!("it was to time out: {}", words(&outcome))),
            },
            Self::Orphans => match stage.call(marker, PATIENCE, poll) {
                // The model is asked again once the command has run.
                Ok(_) if stage.answers(marker) < 2 => {
                    self.failed("it did not run the command that it was to run".to_owned())
                }
                Ok(ran) if ran.called.end == CallEnd::Exited(0) => {
                    self.nothing_left(stage, "what it had started was ended with it")
                }
                outcome => self.failed(words(&outcome)),
            },
        }
    }

    fn wrote(self, stage: &Stage, outcome: &Outcome) -> Finding {
        let said = self.said(outcome);
        if said.result != CheckResult::Passed {
            return said;
        }
        match fs::read_to_string(stage.work().join(FILE)) {
            Ok(text) if text.trim() == CONTENT => {
                self.passed("it wrote the file, and its last words were found")
            }
            Ok(text) => self.failed(format!("the file that it wrote holds {text:?}")),
            Err(error) => self.failed(format!(
                "it said that it was done and wrote no file ({error}): may it write unattended?"
            )),
        }
    }

    fn cost(self, stage: &mut Stage, poll: &dyn Fn() -> Wish) -> Finding {
        let reports = stage
            .profile()
            .map(|profile| (profile.reports_cost(), profile.reports_tokens()));
        let Some((cost, tokens)) = reports.filter(|(cost, tokens)| *cost || *tokens) else {
            return self.skipped("its profile says that it reports neither cost nor tokens");
        };
        let before = stage.answers(self.marker());
        let prompt = format!(
            "{}\nThis is only a test. Do nothing. Answer with the word {WORD} and nothing else.",
            self.marker()
        );
        let ran = match stage.call(&prompt, PATIENCE, poll) {
            Ok(ran) => ran,
            outcome => return self.failed(words(&outcome)),
        };
        let told = match (ran.bill.cost, ran.bill.tokens) {
            (None, _) if cost => return self.failed("it did not tell the cost".to_owned()),
            (_, None) if tokens => return self.failed("it did not tell the tokens".to_owned()),
            (cost, tokens) => told(cost.map(|cost| cost.to_string()), tokens),
        };
        let calls = stage.answers(self.marker()) - before;
        if let (true, Some(tokens)) = (stage.is_offline(), ran.bill.tokens) {
            let usage = Usage::default();
            let expected = Tokens {
                input: calls * usage.input,
                cached: calls * usage.cached,
                output: calls * usage.output,
            };
            if (tokens.input, tokens.output) != (expected.input, expected.output) {
                return self.failed(format!(
                    "it told {told}; the model answered {calls} times, with {} tokens in and {} \
                     out in all",
                    expected.input, expected.output
                ));
            }
        }
        self.passed(&told)
    }

    fn said(self, outcome: &Outcome) -> Finding {
        match outcome {
            Ok(ran)
                if ran.called.end == CallEnd::Exited(0) && ran.text.trim_end().ends_with(WORD) =>
            {
                self.passed("it answered")
            }
            // An argument has an end; the profile knows where, and nothing is spent.
            Err(not_run)
                if self == Self::LongPrompt
                    && fault(&not_run.why) == Some(EnvironmentFault::PromptTooLarge) =>
            {
                self.skipped(&words(outcome))
            }
            outcome => self.failed(words(outcome)),
        }
    }

    fn refused(self, outcome: &Outcome, expected: &[EnvironmentFault]) -> Finding {
        match outcome {
            Err(not_run) if fault(&not_run.why).is_some_and(|fault| expected.contains(&fault)) => {
                self.passed(&words(outcome))
            }
            outcome => self.failed(format!(
                "it was to be told as {}: {}",
                expected[0],
                words(outcome)
            )),
        }
    }

    fn nothing_left(self, stage: &Stage, what: &str) -> Finding {
        match stage.left_behind().as_slice() {
            [] => self.passed(what),
            left => self.failed(format!("it left processes behind: {left:?}")),
        }
    }

    fn passed(self, what: &str) -> Finding {
        self.finding(CheckResult::Passed, what.to_owned())
    }

    fn skipped(self, what: &str) -> Finding {
        self.finding(CheckResult::Skipped, what.to_owned())
    }

    fn failed(self, what: String) -> Finding {
        self.finding(CheckResult::Failed, what)
    }

    fn finding(self, result: CheckResult, what: String) -> Finding {
        Finding {
            check: self,
            result,
            what,
        }
    }
}

fn fault(why: &Why) -> Option<EnvironmentFault> {
    match why {
        Why::Fault(StepFault::Environment { reason, .. }) => Some(*reason),
        _ => None,
    }
}

/// Says what a call used.
fn told(cost: Option<String>, tokens: Option<Tokens>) -> String {
    let cost = cost.map(|cost| format!("${cost}"));
    let tokens = tokens.map(|tokens| {
        format!(
            "{} tokens in ({} cached), {} out",
            tokens.input, tokens.cached, tokens.output
        )
    });
    let told: Vec<_> = cost.into_iter().chain(tokens).collect();
    told.join(", ")
}

/// Says how a call ended, in one line.
fn words(outcome: &Outcome) -> String {
    match outcome {
        Ok(ran) => match ran.called.end.failure() {
            Some(failure) => format!("it {failure}"),
            None => format!("its last words were {:?}", crate::call::in_short(&ran.text)),
        },
        Err(not_run) => match &not_run.why {
            Why::Fault(fault) => fault.what().to_owned(),
            Why::Stopped => "it was ended".to_owned(),
        },
    }
}
