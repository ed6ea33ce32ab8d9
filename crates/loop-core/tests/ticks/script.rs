//! The words of a script, and the answers that they stand for.

use crate::world::{World, called, error, interruption};
use loop_core::answer::{
    Advanced, Armed, CallEnd, Cap, FileRef, Finished, FirstRun, Gated, Implemented, PlanAnswer,
    Planned, Reading, Scoped, StepAnswer, StepFault, Verified, WorktreeRecord,
};
use loop_core::bill::Bill;
use loop_core::claim::Claim;
use loop_core::gate::{GateReport, Level};
use loop_core::outcome::EnvironmentFault;
use loop_core::profile::Tokens;
use loop_core::scope::{Kind, Rule, Violation};
use loop_core::state::{Frozen, PlanRecord};
use loop_core::time::Timestamp;
use loop_core::{Step, Usd};

/// What one step does: `step [unbegun] [takes SECONDS] [meets REQUEST]…
/// [bills MICROS TOKENS] [of SESSION] [partly] word…`.
///
/// `-` for micro-dollars or tokens is unknown; the tokens of a session are all of it;
/// a call that bills partly was ended.
/// A request with `!` before it has to be denied. A step that meets `stop` and
/// has no words of its own is ended.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) step: Step,
    pub(crate) unbegun: bool,
    pub(crate) takes_ms: Option<u64>,
    pub(crate) meets: Vec<String>,
    pub(crate) bill: Option<Bill>,
    pub(crate) words: Vec<String>,
}

/// Reads a script.
pub(crate) fn script(text: &str) -> Vec<Line> {
    text.split('/')
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .map(line)
        .collect()
}

fn line(text: &str) -> Line {
    let mut words = text.split_whitespace();
    let name = words.next().unwrap();
    let step = Step::ALL.into_iter().find(|step| step.as_str() == name);
    let mut line = Line::usual(step.unwrap_or_else(|| panic!("no step: {name}")));
    while let Some(word) = words.next() {
        match word {
            "unbegun" => line.unbegun = true,
            "takes" => {
                let seconds: u64 = words.next().unwrap().parse().unwrap();
                line.takes_ms = Some(seconds * 1_000);
            }
            "meets" => line.meets.push(words.next().unwrap().to_owned()),
            "bills" => line.bill = Some(bill(words.next().unwrap(), words.next().unwrap())),
            "of" => {
                let bill = line.bill.as_mut().unwrap();
                bill.session = Some(words.next().unwrap().to_owned());
                bill.cumulative = true;
            }
            "partly" => line.bill.as_mut().unwrap().whole = false,
            word => line.words.push(word.to_owned()),
        }
    }
    line
}

impl Line {
    /// A step that the script says nothing about.
    pub(crate) fn usual(step: Step) -> Self {
        Self {
            step,
            unbegun: false,
            takes_ms: None,
            meets: Vec::new(),
            bill: None,
            words: Vec::new(),
        }
    }

    pub(crate) fn word(&self, at: usize) -> &str {
        self.words.get(at).map_or("", String::as_str)
    }

    /// Returns everything from the word at `at` on.
    fn rest(&self, at: usize) -> String {
        self.words.get(at..).unwrap_or_default().join(" ")
    }
}

impl World {
    /// Returns the answer that a line stands for, and changes the tree as it says.
    pub(crate) fn answer(&mut self, line: &Line) -> StepAnswer {
        match line.word(0) {
            "env" => StepAnswer::Failed(StepFault::Environment {
                reason: environment(line.word(1)),
                what: "the environment is not well".to_owned(),
                until: (line.word(2) == "until").then(|| {
                    let seconds: i64 = line.word(3).parse().unwrap();
                    Timestamp::from_unix_millis(self.now().unix_millis() + seconds * 1_000)
                }),
            }),
            "error" => StepAnswer::Failed(StepFault::Error {
                reason: error(line.word(1)),
                what: "it could not be done".to_owned(),
            }),
            "tampered" => StepAnswer::Failed(StepFault::Tampered {
                what: "verify.sh is another".to_owned(),
            }),
            "replaced" => StepAnswer::Failed(StepFault::WorktreeReplaced {
                what: ".git is another".to_owned(),
            }),
            "interrupted" => StepAnswer::Interrupted(interruption(line.word(1))),
            _ => match line.step {
                Step::Worktree => {
                    StepAnswer::Worktree((line.word(0) == "made").then(|| made(line.word(1))))
                }
                Step::Tree => StepAnswer::Tree(self.tree().filter(|_| line.word(0) != "unknown")),
                Step::Implement => StepAnswer::Implement(self.implemented(line)),
                Step::Plan => StepAnswer::Plan(planned(line)),
                Step::Baseline => {
                    StepAnswer::Baseline((line.word(0) != "unknown").then(|| file("baseline")))
                }
                Step::Arm => StepAnswer::Arm(armed(line)),
                Step::Scope => StepAnswer::Scope(scoped(line)),
                Step::Gate => StepAnswer::Gate(Box::new(self.gated(line))),
                Step::SetAside => StepAnswer::SetAside(Some(file("patch"))),
                Step::Finish if line.word(0) == "conflict" => {
                    StepAnswer::Finish(Finished::Conflict {
                        what: "its box is gone".to_owned(),
                    })
                }
                Step::Finish => StepAnswer::Finish(Finished::Done),
                Step::Verify => StepAnswer::Verify(self.verified(line)),
                Step::Receipt => {
                    StepAnswer::Receipt((line.word(0) != "none").then(|| file("receipt")))
                }
                Step::Report => StepAnswer::Report,
                Step::Orchestrate => {
                    let end = end(line).unwrap_or(CallEnd::Exited(0));
                    let mut called = called(end);
                    called.outside = outside(line);
                    StepAnswer::Orchestrate(called)
                }
                Step::Advance if line.word(0) == "conflict" => {
                    StepAnswer::Advance(Advanced::Conflict {
                        what: "the task is elsewhere".to_owned(),
                    })
                }
                Step::Advance => StepAnswer::Advance(Advanced::Moved),
                step @ (Step::FindWork | Step::Open | Step::Close) => panic!("no answer to {step}"),
            },
        }
    }

    /// `changes`, `same` or `unknown` say what became of the tree; `silent` is no
    /// output; a claim or a bad end may follow.
    fn implemented(&mut self, line: &Line) -> Implemented {
        let tree_before = self.tree();
        let mut done = Implemented {
            called: called(end(line).unwrap_or(CallEnd::Exited(0))),
            claim: Claim::None,
            silent: false,
            tree_after: tree_before.clone(),
            tree_before,
        };
        for (at, word) in line.words.iter().enumerate() {
            match word.as_str() {
                "changes" => {
                    self.tree += 1;
                    done.tree_after = self.tree();
                }
                "same" => {}
                "unknown" => done.tree_after = None,
                "unknown_before" => done.tree_before = None,
                "silent" => done.silent = true,
                "elsewhere" => done.called.outside = outside(line),
                "blocked" => {
                    done.claim = Claim::Blocked(line.rest(at + 1));
                    break;
                }
                "no_work" => {
                    done.claim = Claim::NoWork(line.rest(at + 1));
                    break;
                }
                _ if end(line).is_some() => {}
                odd => panic!("implement {odd}?"),
            }
        }
        assert!(!line.words.is_empty(), "the script forgets implement");
        done
    }

    /// `pass SCORE hint…`, `fail SCORE hint…`, `blocked text…`, `mumbles`,
    /// `contradicts`, or a bad end behind any of them after `but`.
    fn verified(&self, line: &Line) -> Verified {
        let text = match line.word(0) {
            word @ ("pass" | "fail") => format!(
                r#"{{"pass":{},"score":{},"next_hint":"{}"}}"#,
                word == "pass",
                line.word(1),
                line.rest(2),
            ),
            // What is blocked wins over what else is said.
            "blocked" => format!(r#"{{"pass":true,"score":1,"blocked":"{}"}}"#, line.rest(1)),
            "mumbles" => "looks good to me".to_owned(),
            "contradicts" => r#"{"pass":true,"score":1} or {"pass":false,"score":0}?"#.to_owned(),
            _ if end(line).is_some() => r#"{"pass":true,"score":1}"#.to_owned(),
            "elsewhere" => r#"{"pass":true,"score":1}"#.to_owned(),
            odd => panic!("verify {odd}?"),
        };
        let mut called = called(end(line).unwrap_or(CallEnd::Exited(0)));
        called.outside = outside(line);
        Verified {
            called,
            reading: Reading::of(&text, ""),
            tree: self.tree(),
            changed: Vec::new(),
            added: Vec::new(),
        }
    }

    /// `green`, or `red EXIT output…`.
    fn gated(&self, line: &Line) -> Gated {
        let green = line.word(0) == "green";
        let exit = if green {
            0
        } else {
            line.word(1).parse().unwrap()
        };
        Gated {
            report: GateReport {
                exit,
                tests: None,
                level: Level::ExitCode,
                green,
                why: format!("the gate ended with {exit}"),
                hint: (!green).then(|| line.rest(2)),
                flags: Vec::new(),
                output: line.rest(2),
            },
            tree: self.tree(),
            outside: outside(line),
            inputs: Vec::new(),
            violations: Vec::new(),
        }
    }
}

fn bill(cost: &str, tokens: &str) -> Bill {
    Bill {
        cost: cost.parse().ok().and_then(Usd::from_micros),
        tokens: tokens.parse().ok().map(|output| Tokens {
            output,
            ..Tokens::default()
        }),
        whole: true,
        ..Bill::default()
    }
}

/// What changed outside, if the line says that something did.
fn outside(line: &Line) -> Vec<String> {
    let found = line.words.iter().any(|word| word == "elsewhere");
    found
        .then(|| "HEAD is another".to_owned())
        .into_iter()
        .collect()
}

/// `plan`, `refused why…`, `broken why…`, or a bad end.
fn planned(line: &Line) -> Planned {
    let why = line.rest(1);
    Planned {
        called: called(end(line).unwrap_or(CallEnd::Exited(0))),
        answer: match line.word(0) {
            "refused" => PlanAnswer::Refused { why },
            "broken" => PlanAnswer::Broken { why },
            _ => PlanAnswer::Plan(PlanRecord {
                file: file("plan.json"),
                items: 2,
                frozen: vec!["tests/x".to_owned()],
                uncovered: Vec::new(),
            }),
        },
    }
}

fn armed(line: &Line) -> Armed {
    let why = || "it is not well".to_owned();
    Armed {
        frozen: frozen("f"),
        first_run: match line.word(0) {
            "" => None,
            "red" => Some(FirstRun::Red {
                exit: 1,
                tests: Some(3),
            }),
            "green" => Some(FirstRun::Green),
            "broken" => Some(FirstRun::Broken { why: why() }),
            "unwritten" => Some(FirstRun::Unwritten),
            "flaky" => Some(FirstRun::Flaky { why: why() }),
            odd => panic!("arm {odd}?"),
        },
    }
}

/// What a gate with that fingerprint is made of.
pub(crate) fn frozen(fingerprint: &str) -> Frozen {
    Frozen {
        fingerprint: fingerprint.to_owned(),
        parts: file("gate"),
    }
}

/// `outside PATH…` or `protected PATH…`; nothing is no violation.
fn scoped(line: &Line) -> Scoped {
    let paths = line.words.iter().skip(1);
    Scoped {
        files: 1,
        violations: paths
            .map(|path| Violation {
                path: path.clone(),
                kind: Kind::Added,
                rule: match line.word(0) {
                    "protected" => Rule::Protected,
                    _ => Rule::FileScope,
                },
            })
            .collect(),
        patch: Some(file("changes.patch")),
    }
}

/// A file of the loop.
pub(crate) fn file(name: &str) -> FileRef {
    FileRef {
        path: format!("/outputs/{name}"),
        bytes: 3,
        sha256: "00".to_owned(),
    }
}

/// The worktree of that name.
pub(crate) fn made(name: &str) -> WorktreeRecord {
    WorktreeRecord {
        path: format!("/worktrees/{name}"),
        branch: format!("loop/l/{name}"),
        base: "b".to_owned(),
        admin: "a".to_owned(),
    }
}

/// Reads how a process ended, if not well.
fn end(line: &Line) -> Option<CallEnd> {
    let number = || line.word(1).parse().unwrap();
    match line.word(0) {
        "exit" => Some(CallEnd::Exited(number())),
        "signal" => Some(CallEnd::Signaled(number())),
        "timeout" => Some(CallEnd::TimedOut(60)),
        "idle" => Some(CallEnd::IdleTimedOut(60)),
        "reported" => Some(CallEnd::Reported(line.rest(1))),
        "capped" if line.word(1) == "cost" => Some(CallEnd::Capped(Cap::Cost)),
        "capped" => Some(CallEnd::Capped(Cap::Tokens)),
        _ => None,
    }
}

fn environment(word: &str) -> EnvironmentFault {
    let all = EnvironmentFault::ALL.iter().copied();
    all.into_iter()
        .find(|fault| fault.as_str() == word)
        .unwrap()
}
