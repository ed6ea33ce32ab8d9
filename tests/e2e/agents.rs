//! Real agent CLIs against a scripted model: nothing but the model is made up.
//!
//! `LOOP_AGENTS` names the folder of their executables, which
//! `scripts/install-agents.sh` makes; without it these tests are skipped, and say so.

mod agent;
mod stage;

use crate::support::{verdict, wait_until};
use agent::Agent;
use loop_runner::model_server::{Script, Step};
use rustix::process::Signal;
use serde_json::{Value, json};
use stage::Stage;

/// How the shipped prompts begin; by this the model knows what it is asked for.
const IMPLEMENT: &str = "# Implement: one attempt";
const VERIFY: &str = "# Verify: judge one attempt";

/// A command that nobody else runs, and that does not end by itself.
const LONG: &str = "sleep 86399";

fn implementer(steps: impl IntoIterator<Item = Step>) -> Script {
    Script::new().role(IMPLEMENT, steps)
}

fn write() -> Step {
    Step::Write {
        path: "made.txt".to_owned(),
        content: "it's made\n".to_owned(),
    }
}

fn say(text: &str) -> Step {
    Step::Say(text.to_owned())
}

fn refusal(status: u16, message: &str) -> [Step; 2] {
    let error = Step::Error {
        status,
        retry_after: (status == 429).then_some(1),
        message: message.to_owned(),
        times: None,
    };
    [error, say("never said")]
}

/// The agent runs a command and waits for the model for ever after.
fn busy() -> Script {
    implementer([write(), Step::Shell(LONG.to_owned()), Step::Hang])
}

fn passes(agent: Agent) {
    let judge = [
        Step::Shell("cat made.txt".to_owned()),
        say(&verdict(true, 0.9, "")),
    ];
    let script = implementer([write(), say("I wrote made.txt.")]).role(VERIFY, judge);
    let Some(stage) = Stage::new(agent, script) else {
        return;
    };
    let told = stage.tick();
    assert_eq!(told["outcome"], "pass", "{told}");
    assert_eq!(told["verdict"]["score"], 0.9, "{told}");
    let changed = stage.run(["diff", "L"]).out;
    assert!(changed.contains("+it's made"), "{changed}");
    assert!(!stage.project().join("made.txt").exists());
    // The model has answered four times, with as many tokens each time.
    assert_eq!(
        told["tokens"],
        json!({"input": 4000, "cached": 800, "output": 200})
    );
    let source = if agent.tells_cost() {
        "reported"
    } else {
        "unknown"
    };
    assert_eq!(told["cost_source"], source, "{told}");
    assert_eq!(
        stage.output("tick1-implement-output.md").trim_end(),
        "I wrote made.txt."
    );

    let requests = stage.requests();
    let roles: Vec<_> = requests
        .iter()
        .filter_map(|request| request.role.as_deref())
        .collect();
    assert_eq!(roles, [IMPLEMENT, IMPLEMENT, VERIFY, VERIFY]);
    // The judge was shown what the implementer said, and its tool what it did.
    assert!(
        requests[2].text.contains("I wrote made.txt."),
        "{requests:#?}"
    );
    assert!(
        requests[0].text.contains("BRIEF OF THE TASK"),
        "{requests:#?}"
    );
    assert_eq!(stage.leftovers(), [""; 0]);
}

/// Checks that a refusal has cost no attempt, and that no agent will read of it.
fn refused(stage: &Stage, told: &Value, reason: &str) {
    assert_eq!(
        (&told["outcome"], &told["reason"], &told["iteration"]),
        (&json!("environment"), &json!(reason), &json!(0)),
        "{told}"
    );
    let shown = stage.run(["show", "L", "--json"]).rc(0).json();
    let tasks = shown["state"]["progress"].as_object().unwrap();
    assert!(tasks.values().all(|task| task["hint"] == ""), "{shown}");
    assert_eq!(stage.output("tick1-implement-output.md"), "");
}

fn a_key_that_is_refused_is_no_attempt(agent: Agent) {
    let script = implementer(refusal(401, "Incorrect API key provided: dummy."));
    let Some(stage) = Stage::new(agent, script) else {
        return;
    };
    let told = stage.tick();
    refused(&stage, &told, "auth");
    assert_eq!(stage.leftovers(), [""; 0]);
}

fn a_limit_of_the_rate_is_no_attempt(agent: Agent) {
    let script = implementer(refusal(429, "Rate limit reached for requests."));
    let Some(stage) = Stage::new(agent, script) else {
        return;
    };
    let told = stage.tick();
    refused(&stage, &told, "rate_limit");
    assert_eq!(stage.leftovers(), [""; 0]);
}

fn a_model_that_is_silent_ends_with_the_timeout(agent: Agent) {
    let Some(stage) = Stage::new(agent, busy()) else {
        return;
    };
    // Long enough to start on a machine that is busy.
    stage.configure(|config| config["harness"]["timeout_seconds"] = 30.into());
    let told = stage.tick();
    assert_eq!(told["outcome"], "fail", "{told}");
    assert_eq!(told["reason"], "timeout", "{told}");
    let requests = stage.requests();
    assert!(
        requests.iter().any(|request| request.step == Some(1)),
        "{requests:#?}"
    );
    assert_eq!(stage.leftovers(), [""; 0]);
}

fn nothing_outlives_an_engine_that_is_killed(agent: Agent) {
    let Some(stage) = Stage::new(agent, busy()) else {
        return;
    };
    let tick = stage.start(["tick", "L"]);
    stage.wait_for_process(LONG);
    tick.signal(Signal::KILL);
    tick.wait();
    wait_until("every process of the agent ends", || {
        stage.leftovers().is_empty().then_some(())
    });
    // What it did is kept for the next attempt.
    assert_eq!(stage.made(), "it's made\n");
}

fn a_stop_ends_it_all(agent: Agent) {
    let Some(stage) = Stage::new(agent, busy()) else {
        return;
    };
    let tick = stage.start(["tick", "L", "--json"]);
    stage.wait_for_process(LONG);
    stage.run(["stop", "L"]).rc(0);
    let told = tick.wait().json();
    assert_eq!(told["outcome"], "interrupted", "{told}");
    assert_eq!(told["reason"], "stop", "{told}");
    assert_eq!(stage.leftovers(), [""; 0]);
    assert_eq!(stage.made(), "it's made\n");
}

/// What its profile says of it, check by check.
fn does_what_its_profile_says(agent: Agent) {
    let Some(stage) = Stage::new(agent, busy()) else {
        return;
    };
    let tried = stage.start(["harness", "test", agent.name(), "--offline"]);
    let tried = stage.see_to_the_end(tried).rc(0);
    let checks = tried.out.lines().filter(|line| line.starts_with("ok "));
    assert_eq!(checks.count(), 9, "{tried:#?}");
    assert_eq!(stage.leftovers(), [""; 0]);
}

/// Makes the tests of one agent, so that each can be run alone.
macro_rules! tests_of {
    ($module:ident, $agent:expr) => {
        mod $module {
            use super::Agent;

            // rows: H-31, V-01
            #[test]
            fn passes() {
                super::passes($agent);
            }

            // rows: H-37, U-19
            // cases: 38, 39, 40, 130
            #[test]
            fn a_key_that_is_refused_is_no_attempt() {
                super::a_key_that_is_refused_is_no_attempt($agent);
            }

            // rows: H-37, U-19
            // cases: 38, 39, 40, 130
            #[test]
            fn a_limit_of_the_rate_is_no_attempt() {
                super::a_limit_of_the_rate_is_no_attempt($agent);
            }

            // rows: H-38, U-20
            // cases: 11, 47
            #[test]
            fn a_model_that_is_silent_ends_with_the_timeout() {
                super::a_model_that_is_silent_ends_with_the_timeout($agent);
            }

            // rows: U-28
            // cases: 46, 47
            #[test]
            fn nothing_outlives_an_engine_that_is_killed() {
                super::nothing_outlives_an_engine_that_is_killed($agent);
            }

            // rows: H-32, H-38, D-8
            // cases: 38, 46, 47, 50, 133
            #[test]
            fn does_what_its_profile_says() {
                super::does_what_its_profile_says($agent);
            }

            // rows: U-28
            // cases: 46
            #[test]
            fn a_stop_ends_it_all() {
                super::a_stop_ends_it_all($agent);
            }
        }
    };
}

tests_of!(pi, Agent::Pi);
tests_of!(codex, Agent::Codex);
tests_of!(opencode, Agent::Opencode);
