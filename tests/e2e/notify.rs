//! People are told of what came of a tick, and no tick waits for that.

use crate::support::{Run, World, verdict};
use serde_json::{Value, json};
use std::fs;

/// Notes one message: what it read, and what its environment says.
const TELL: &str = r#"#!/bin/sh
n=1
set -C
until true 2>/dev/null >"$REC/told.$n"; do n=$((n + 1)); done
set +C
cat >"$REC/message.$n"
printf '%s|%s|%s|%s|%s|%s' "$AUTOMATON_EVENT" "$AUTOMATON_REASON" "$AUTOMATON_WHY" \
    "$AUTOMATON_DO" "$AUTOMATON_LOOP" "$AUTOMATON_ROLE" >"$REC/environment.$n"
"#;

/// Every event there is.
const ALL: [&str; 5] = [
    "stopped",
    "approval",
    "done",
    "verifier_broken",
    "budget_80",
];

/// A loop whose every event is told to the program `tell`.
fn world(change: impl FnOnce(&mut Value)) -> World {
    let world = World::plain();
    world.program("tell", TELL);
    world.with(|config| {
        config["notify"] = json!([{"on": ALL, "command": ["tell"]}]);
        config["phases"] = json!(["implement"]);
        config["roles"]["orchestrate"] = Value::Null;
        change(config);
    })
}

/// Reads the messages that were sent so far.
fn messages(world: &World) -> Vec<Value> {
    let read = |n: usize| fs::read_to_string(world.rec(&format!("message.{n}"))).ok();
    let texts = (1..).map_while(read);
    texts
        .map(|text| serde_json::from_str(&text).unwrap())
        .collect()
}

fn events(world: &World) -> Vec<String> {
    let messages = messages(world);
    let event = |message: &Value| message["event"].as_str().unwrap().to_owned();
    messages.iter().map(event).collect()
}

fn tick(world: &World) -> Run {
    world.run(["tick", "L"]).rc(0)
}

// cases: 104, 158
#[test]
fn a_stop_is_told_once_with_its_reason_and_what_to_do() {
    let world = world(|config| config["brakes"]["max_iterations"] = 1.into());
    world.says("verify", verdict(false, 0.4, "h"));
    tick(&world);
    let message = &messages(&world)[0];
    let at = message["at"].clone();
    let expected = json!({
        "v": 1, "event": "stopped", "loop": "L", "project": world.project(), "task": "t1",
        "tick": 1, "reason": "max_iterations", "why": "all 1 attempts are spent; the judge gave 0.4",
        "do": "improve the task, or raise brakes.max_iterations, then: loop approve L",
        "cost_usd": null, "at": at,
    });
    assert_eq!(*message, expected);
    let environment = fs::read_to_string(world.rec("environment.1")).unwrap();
    assert_eq!(
        environment,
        "stopped|max_iterations|all 1 attempts are spent; the judge gave 0.4|improve the task, or raise \
         brakes.max_iterations, then: loop approve L|L|"
    );
    // It stays halted: nobody wants to hear that every quarter of an hour.
    tick(&world);
    tick(&world);
    assert_eq!(events(&world), ["stopped"]);
    // What stops it again is told again.
    world.run(["approve", "L"]).rc(0);
    tick(&world);
    assert_eq!(events(&world), ["stopped", "stopped"]);
}

// cases: 104, 158
#[test]
fn every_event_comes_under_its_own_name() {
    let approval = world(|config| config["approval_phases"] = json!(["implement"]));
    approval.says("verify", verdict(true, 0.9, ""));
    tick(&approval);
    assert_eq!(events(&approval), ["approval"]);

    let done = world(|_| {});
    done.says("verify", verdict(true, 0.9, ""));
    tick(&done);
    assert_eq!(events(&done), ["done"]);
    tick(&done);
    assert_eq!(events(&done), ["done"]);

    let broken = world(|config| config["brakes"]["max_harness_failures"] = 1.into());
    broken.exits("verify", 1);
    tick(&broken);
    assert_eq!(events(&broken), ["verifier_broken"]);

    let dear = world(|config| {
        config["brakes"] = json!({"max_cost_usd": 1, "score_plateau_window": 0});
        config["harness"]["cost_per_call_usd"] = json!(0.2);
    });
    for n in 1..=3 {
        dear.says_at("verify", n, verdict(false, 0.1 * f64::from(n), "h"));
    }
    // $0.40, $0.80, $1.00 and not a call more.
    tick(&dear);
    assert_eq!(events(&dear), [""; 0]);
    tick(&dear);
    assert_eq!(events(&dear), ["budget_80"]);
    assert_eq!(messages(&dear)[0]["cost_usd"], json!(0.8));
    tick(&dear);
    assert_eq!(events(&dear), ["budget_80", "stopped"]);
    assert_eq!(messages(&dear)[1]["reason"], "max_cost");
}

// cases: 158
#[test]
fn only_who_asked_for_an_event_hears_of_it() {
    let world = world(|config| {
        config["notify"] = json!([
            {"on": ["approval", "stopped"], "command": ["tell"]},
            {"on": ["done"], "command": ["tell", "a", "b"]},
        ]);
    });
    world.says("verify", verdict(true, 0.9, ""));
    tick(&world);
    assert_eq!(events(&world), ["done"]);
}

// rows: L-11
// cases: 158
#[test]
fn a_failure_to_tell_is_a_warning_and_changes_nothing() {
    let world = world(|config| {
        config["notify"] = json!([
            {"on": ["done"], "command": ["no-such-program"]},
            {"on": ["done"], "command": ["sh", "-c", "echo no network >&2; exit 3"]},
            {"on": ["done"], "command": ["tell"]},
        ]);
    });
    world.says("verify", verdict(true, 0.9, ""));
    let run = tick(&world);
    assert!(run.out.contains("L tick 1: pass"), "{run:#?}");
    let stderr = world.in_loop("outputs/tick1-notify-1-done-stderr.log");
    let failures = [
        "notify[0] of done: ".to_owned(),
        format!("notify[1] of done: exited with 3; see {}", stderr.display()),
    ];
    let log = world.log();
    for failure in &failures {
        assert!(run.err.contains(&format!("warning: {failure}")), "{run:#?}");
        assert!(log.contains(&format!(" WARNING {failure}")), "{log}");
    }
    assert_eq!(fs::read_to_string(stderr).unwrap(), "no network\n");
    // The others are told all the same, and the state is what it was.
    assert_eq!(events(&world), ["done"]);
    assert_eq!(world.state()["status"], "complete");
}

// cases: 111, 158
#[test]
fn the_next_tick_need_not_wait_until_everybody_is_told() {
    let world = world(|config| {
        config["brakes"]["max_iterations"] = 1.into();
        let slow = "touch \"$REC/slow\"; until test -e \"$REC/go\"; do sleep 0.01; done";
        config["notify"] = json!([{"on": ["stopped"], "command": ["sh", "-c", slow]}]);
    });
    world.says("verify", verdict(false, 0.4, "h"));
    let first = world.start(["tick", "L"]);
    crate::support::wait_for(&world.rec("slow"));
    world.run(["approve", "L"]).rc(0);
    world.says("verify", verdict(true, 0.9, ""));
    let second = world.run(["tick", "L", "--json"]).rc(0).json();
    assert_eq!(second["outcome"], "pass", "{second}");
    fs::write(world.rec("go"), "").unwrap();
    first.wait().rc(0);
}

// cases: 46, 51
#[test]
fn nothing_of_a_command_outlives_it() {
    let world = world(|config| {
        let leaves = "setsid sleep 600 & read -r line; printf %s \"$line\" >\"$REC/message.1\"";
        config["notify"] = json!([{"on": ["done"], "command": ["sh", "-c", leaves]}]);
    });
    world.says("verify", verdict(true, 0.9, ""));
    tick(&world);
    assert_eq!(events(&world), ["done"]);
    // The world checks that nothing is left running.
}

// cases: 148
#[test]
fn no_secret_leaves_the_machine() {
    let world = world(|config| {
        config["harness"]["env"] = json!({"set": {"SERVICE_KEY": "set-in-loop-json"}});
    });
    let said = "needs opensesame99, set-in-loop-json or sk-Zm9vYmFyYmF6cXV4MTIz";
    world.says("implement", json!({"blocked": said}).to_string());
    for _ in 0..2 {
        let mut tick = world.command(["tick", "L"]);
        tick.env("DEPLOY_TOKEN", "opensesame99");
        world.finish(tick).rc(0);
    }
    let message = fs::read_to_string(world.rec("message.1")).unwrap();
    let environment = fs::read_to_string(world.rec("environment.1")).unwrap();
    let told = "needs [redacted], [redacted] or [redacted]";
    for text in [message, environment] {
        assert!(text.contains(told), "{text}");
        assert!(!text.contains("opensesame99"), "{text}");
    }
}

// cases: 55
#[cfg(debug_assertions)]
#[test]
fn what_a_crash_kept_from_being_told_is_not_told_later() {
    let world = world(|config| config["brakes"]["max_iterations"] = 1.into());
    world.says("verify", verdict(false, 0.4, "h"));
    let mut crash = world.command(["tick", "L"]);
    crash.env("LOOP_FAULT", "close.recorded");
    world.finish(crash).rc(-1);
    tick(&world);
    assert_eq!(events(&world), [""; 0]);
    assert_eq!(world.state()["reason"], "max_iterations");
}

// cases: 158
#[test]
fn a_run_tells_of_its_end_too() {
    let world = World::git();
    world.program("tell", TELL);
    world.run(["init", "--run"]).rc(0);
    fs::create_dir_all(world.data("loops/run")).unwrap();
    let mut config: Value =
        serde_json::from_str(include_str!("../../templates/loops/run-loop/loop.json")).unwrap();
    config["name"] = "run".into();
    config["notify"] = json!([{"on": ALL, "command": ["tell"]}]);
    fs::write(world.data("loops/run/loop.json"), config.to_string()).unwrap();
    fs::write(
        world.project().join("TASK.md"),
        "# Do\n\n## Done when\n\n- done\n",
    )
    .unwrap();
    fs::write(
        world.project().join("scripts/verify.sh"),
        "test -e done || { echo not done; exit 1; }\necho done\n",
    )
    .unwrap();
    world.role("implement", "touch done");
    let rec = r#"["rec","{prompt}"]"#;
    world.run(["iterate", "--harness-command", rec]).rc(0);
    assert_eq!(events(&world), ["done"]);
    let message = &messages(&world)[0];
    assert_eq!(
        (&message["loop"], &message["task"]),
        (&json!("run"), &json!("run"))
    );
    // Who looks at once finds the report.
    let state = fs::read_to_string(world.project().join("STATE.md")).unwrap();
    assert!(state.contains("green"), "{state}");
}

/// Returns the recipes of the README, in its order.
fn recipes() -> Vec<Value> {
    const README: &str = include_str!("../../README.md");
    let (_, section) = README.split_once("\n### Being told\n").unwrap();
    let section = section.split("\n### ").next().unwrap();
    let blocks = section.split("```json\n").skip(1);
    let texts = blocks.map(|block| block.split("```").next().unwrap());
    texts
        .map(|text| serde_json::from_str(text).unwrap())
        .collect()
}

// cases: 158
#[test]
fn the_recipes_of_the_readme_tell_what_happened() {
    let stub = |name: &str| {
        format!(
            "#!/bin/sh\nprintf '%s\\n' \"$@\" >\"$REC/{name}.arguments\"\ncat >\"$REC/{name}.read\"\n"
        )
    };
    let recipes = recipes();
    assert_eq!(recipes.len(), 3);
    for (recipe, program) in recipes.iter().zip(["notify-send", "curl", "mail"]) {
        let world = world(|config| {
            config["brakes"]["max_iterations"] = 1.into();
            config["notify"] = json!([recipe]);
        });
        world.program(program, &stub(program));
        // What the real one does with the message on its standard input.
        let jq = "#!/bin/sh\nprintf '%s\\n' \"$@\" >\"$REC/jq.arguments\"\nexec cat\n";
        world.program("jq", jq);
        world.says("verify", verdict(false, 0.4, "h"));
        let mut tick = world.command(["tick", "L"]);
        tick.env("CHAT_WEBHOOK", "https://chat.example.org/hook");
        let run = world.finish(tick).rc(0);
        assert!(!run.err.contains("warning"), "{program}: {run:#?}");
        let noted = |what: &str| fs::read_to_string(world.rec(&format!("{program}.{what}")));
        let (arguments, read) = (noted("arguments").unwrap(), noted("read").unwrap());
        let all = format!("{arguments}{read}");
        assert!(all.contains("all 1 attempts are spent"), "{program}: {all}");
        assert!(all.contains("stopped"), "{program}: {all}");
        if program == "curl" {
            assert!(
                arguments.contains("https://chat.example.org/hook\n"),
                "{arguments}"
            );
        }
    }
}
