//! Drives a loop with `loop-core` alone: no process, no file, no git, no clock.
//!
//! The driver below makes its answers up: its implementer needs one hint, and its
//! judge gives it. A real driver calls an agent where this one makes something up,
//! and everything else stays as it is.
//!
//! ```text
//! cargo run --manifest-path examples/embed-core/Cargo.toml
//! ```

use loop_core::answer::{
    Advanced, CallEnd, Called, FileRef, Implemented, Reading, Scoped, StepAnswer, Verified, Work,
};
use loop_core::claim::Claim;
use loop_core::config::Config;
use loop_core::harness::{Harnesses, Profiles};
use loop_core::outcome::{Failure, Outcome};
use loop_core::rules::Rules;
use loop_core::state::{State, Status};
use loop_core::step::{Call, WorkTask};
use loop_core::time::Timestamp;
use loop_core::{Action, Answer, Machine, Reply, Start};
use std::error::Error;

/// The same file that `loop` reads.
const LOOP: &str = r#"{
    "name": "embedded",
    "acceptance_criteria": ["the answer is 42"],
    "roles": {},
    "brakes": {"max_iterations": 3},
    "phases": ["implement"]
}"#;

const HINT: &str = "multiply, do not add";

// rows: W-08
fn main() -> Result<(), Box<dyn Error>> {
    let config = Config::parse(LOOP)?.config;
    // No profile: a harness is its exit code and its text.
    let rules = Rules::of(&config, &Harnesses::of(&config, &Profiles::default())?);
    let mut machine = Machine::new(State::new());
    let mut world = World { now: 0, answer: 0 };

    world.tick(&mut machine, &rules)?;
    let first = outcome(&machine)?;
    world.tick(&mut machine, &rules)?;
    let second = outcome(&machine)?;

    // This is a check as much as an example.
    assert_eq!(first, Outcome::Fail(Failure::Verdict));
    assert_eq!(second, Outcome::Pass);
    assert_eq!(machine.state().status, Status::Complete);
    assert_eq!(world.answer, 42);
    Ok(())
}

/// Everything that is not a decision.
struct World {
    /// Milliseconds since 1970, as far as anybody here knows.
    now: i64,
    /// What the implementer has made so far.
    answer: u32,
}

impl World {
    /// Makes one tick: asks what to do, does it, answers, until nothing is asked.
    fn tick(&mut self, machine: &mut Machine, rules: &Rules) -> Result<(), Box<dyn Error>> {
        machine.start(Start {
            rules: rules.clone(),
            now: self.time(),
        })?;
        while let (Some(action), Some(fence)) = (machine.action(), machine.fence()) {
            println!("  {}", action.step());
            if action.step().acts_outside() {
                // A real driver has its `began` record on disk by now.
                machine.begin(fence, self.time(), std::process::id())?;
            }
            self.now += 1_000;
            let reply = Reply {
                at: self.time(),
                elapsed_ms: 1_000,
                bill: None,
                answer: self.perform(action, rules),
            };
            machine.answer(fence, reply)?;
        }
        Ok(())
    }

    /// A new kind of action would not compile here, and could not be forgotten.
    fn perform(&mut self, action: Action, rules: &Rules) -> Answer {
        let step = match action {
            Action::FindWork => {
                return Answer::Work(Work::Found(WorkTask {
                    name: "answer".to_owned(),
                    phase: Some(rules.phases.first().to_owned()),
                    phases: rules.phases.clone(),
                    item: None,
                }));
            }
            Action::Open(open) => {
                return Answer::Opened {
                    seq: open.tick,
                    nonce: "0123456789abcdef".to_owned(),
                };
            }
            Action::Close(_) => return Answer::Closed,
            Action::Worktree(_) => StepAnswer::Worktree(None),
            Action::Baseline(_) => StepAnswer::Baseline(None),
            Action::Scope(_) => StepAnswer::Scope(Scoped::default()),
            Action::Tree(_) => StepAnswer::Tree(Some(self.tree())),
            Action::Implement(call) => StepAnswer::Implement(self.implement(&call)),
            Action::Verify(_) => StepAnswer::Verify(self.verify()),
            Action::Receipt(_) => StepAnswer::Receipt(None),
            Action::Report(_) => StepAnswer::Report,
            Action::Orchestrate(_) => StepAnswer::Orchestrate(called("nothing to add")),
            Action::Advance(_) => StepAnswer::Advance(Advanced::Moved),
            Action::Plan(_)
            | Action::Arm(_)
            | Action::Gate(_)
            | Action::SetAside(_)
            | Action::Finish(_) => {
                unreachable!("this loop has no gate, no shared worktree and no items")
            }
        };
        Answer::Step(step)
    }

    /// Works, and takes the hint of the last verdict.
    fn implement(&mut self, call: &Call) -> Implemented {
        let tree_before = Some(self.tree());
        self.answer = if call.hint == HINT { 6 * 7 } else { 6 + 7 };
        Implemented {
            called: called("done"),
            claim: Claim::None,
            silent: false,
            tree_before,
            tree_after: Some(self.tree()),
        }
    }

    /// Judges the work, in the words that any judge answers in.
    fn verify(&self) -> Verified {
        let text = if self.answer == 42 {
            r#"{"pass": true, "score": 1.0, "reasons": ["it is 42"], "next_hint": ""}"#.to_owned()
        } else {
            format!(r#"{{"pass": false, "score": 0.4, "reasons": [], "next_hint": "{HINT}"}}"#)
        };
        Verified {
            called: called(&text),
            reading: Reading::of(&text, ""),
            tree: Some(self.tree()),
            changed: Vec::new(),
            added: Vec::new(),
        }
    }

    fn tree(&self) -> String {
        format!("the tree with {}", self.answer)
    }

    fn time(&self) -> Timestamp {
        Timestamp::from_unix_millis(self.now)
    }
}

/// A call that ended well; a real one names the file that holds its output.
fn called(output: &str) -> Called {
    Called {
        end: CallEnd::Exited(0),
        output: FileRef {
            path: "output.md".to_owned(),
            bytes: output.len() as u64,
            sha256: String::new(),
        },
        leaked: false,
        outside: Vec::new(),
        inputs: Vec::new(),
    }
}

fn outcome(machine: &Machine) -> Result<Outcome, Box<dyn Error>> {
    let ended = machine.ended().ok_or("the tick did not end")?;
    println!("{}: {}", ended.outcome, ended.why);
    Ok(ended.outcome.clone())
}
