//! The engine dies, is told to end, or is not alone.

use crate::support::{World, verdict, wait_for, wait_until};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::fs;
use std::thread;
use std::time::Duration;

/// Says that implement has started, and works on.
const LONG: &str = "echo \"$n\" >>work.txt; true >\"$REC/started.$n\"; sleep 60";
/// The same for verify.
const LONG_JUDGE: &str = "true >\"$REC/started.$n\"; sleep 60";
const QUICK: &str = "echo \"$n\" >>work.txt";

fn failing(world: World) -> World {
    for n in 1..=9 {
        world.says_at("verify", n, verdict(false, f64::from(n) / 20.0, "h"));
    }
    world
}

// scenarios: 25
// rows: L-06, L-07, L-09, A-27
// cases: 55, 107
#[test]
fn a_tick_killed_during_implement_is_told_of_and_its_attempt_is_spent() {
    let world = failing(World::plain().with_loop());
    world.role("implement", LONG);
    let tick = world.start(["tick", "L"]);
    wait_for(&world.rec("started.1"));
    tick.signal(Signal::KILL);
    assert_eq!(tick.wait().code, -1);
    let cache: Value =
        serde_json::from_str(&fs::read_to_string(world.in_loop(".state.json")).unwrap()).unwrap();
    assert_eq!(cache["in_progress"], 1);

    world.role("implement", QUICK);
    let run = world.run(["tick", "L", "--json"]).rc(0);
    assert!(
        run.err.contains("warning: tick 1 was interrupted"),
        "{run:#?}"
    );
    let told = run.json();
    assert_eq!(told["tick"], 2);
    assert_eq!(told["iteration"], 2);
    assert_eq!(told["outcome"], "fail");
    assert!(
        world.log().contains("tick 1 was interrupted"),
        "{}",
        world.log()
    );
    let closed = closed(&world);
    assert_eq!(closed[0]["outcome"], "interrupted");
    assert_eq!(closed[0]["reason"], "crash");
}

/// Returns outcome and reason of every closed tick.
fn closed(world: &World) -> Vec<Value> {
    let log = world.run(["log", "L", "--json"]).rc(0).out;
    log.lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|record| record["kind"] == "closed")
        .map(|record| {
            let outcome = &record["outcome"];
            json!({"outcome": outcome["outcome"], "reason": outcome["reason"], "tick": record["tick"]})
        })
        .collect()
}

// scenarios: 25
// rows: L-07, A-27
#[test]
fn crashes_cannot_evade_the_limit_of_attempts() {
    let world =
        failing(World::plain().with(|config| config["brakes"]["max_iterations"] = 2.into()));
    world.role("implement", LONG);
    for n in 1..=2 {
        let tick = world.start(["tick", "L"]);
        wait_for(&world.rec(&format!("started.{n}")));
        tick.signal(Signal::KILL);
        tick.wait();
    }
    let told = world.tick();
    assert_eq!(told["outcome"], "human_intervention");
    assert_eq!(told["reason"], "max_iterations");
    assert_eq!(world.count("implement"), 2);
}

// rows: L-07
// cases: 55
#[test]
fn a_crash_cannot_evade_the_limit_of_running_time() {
    let world = failing(World::plain().with(|config| {
        config["brakes"]["max_iterations"] = "unlimited".into();
        config["brakes"]["max_wall_seconds"] = 2.into();
    }));
    world.role("implement", LONG);
    let tick = world.start(["tick", "L"]);
    wait_for(&world.rec("started.1"));
    tick.signal(Signal::KILL);
    tick.wait();
    // When the step ended is unknown: it may have run until now.
    thread::sleep(Duration::from_secs(2));
    let told = world.tick();
    assert_eq!(told["outcome"], "human_intervention");
    assert_eq!(told["reason"], "max_wall");
    assert_eq!(world.count("implement"), 1);
}

// rows: L-06
// cases: 109
#[test]
fn an_agent_that_removes_the_lock_ends_its_tick_and_makes_no_second_writer() {
    let world = failing(World::plain().with_loop());
    world.role(
        "implement",
        "rm .automaton/loops/L/.lock; echo \"$n\" >>work.txt",
    );
    let told = world.run(["tick", "L", "--json"]).rc(1).json();
    assert_eq!(told["outcome"], "error");
    assert_eq!(told["reason"], "state_removed");
    world.role("implement", QUICK);
    assert_eq!(world.tick()["tick"], 2);
    let ticks: Vec<_> = closed(&world)
        .iter()
        .map(|tick| tick["tick"].clone())
        .collect();
    assert_eq!(ticks, [1, 2]);
}

// rows: B-13
// cases: 109
#[test]
fn what_an_agent_leaves_in_the_loops_folder_leads_nowhere() {
    let world = failing(World::plain().with_loop());
    let precious = world.home().join("precious");
    fs::write(&precious, "keep me").unwrap();
    world.role(
        "implement",
        "echo \"$n\" >>work.txt; cd .automaton/loops/L
        mkdir -p control/x/y outputs/control-bad/x/y; echo '?' >control/0.json",
    );
    assert_eq!(world.tick()["outcome"], "fail");
    world.run(["pause", "L"]).rc(0);
    world.run(["resume", "L"]).rc(0);
    for name in [".lock", ".state.log", "events.jsonl"] {
        let file = world.in_loop(name);
        let kept = world.in_loop("kept");
        fs::rename(&file, &kept).unwrap();
        std::os::unix::fs::symlink(&precious, &file).unwrap();
        let told = world.run(["tick", "L", "--json"]).rc(1).json();
        assert_eq!(told["reason"], "disk", "{name}");
        assert!(
            told["why"].as_str().unwrap().contains("it is a link"),
            "{told}"
        );
        assert_eq!(fs::read_to_string(&precious).unwrap(), "keep me", "{name}");
        fs::rename(&kept, &file).unwrap();
    }
    fs::remove_file(precious).unwrap();
}

// scenarios: 25
// rows: L-07
#[test]
fn a_tick_killed_during_verify_has_spent_its_attempt() {
    let world = failing(World::plain().with_loop());
    world.role("verify", LONG_JUDGE);
    let tick = world.start(["tick", "L"]);
    wait_for(&world.rec("started.1"));
    tick.signal(Signal::KILL);
    tick.wait();
    world.role("verify", "");
    let run = world.run(["tick", "L", "--json"]).rc(0);
    assert!(
        run.err.contains("warning: tick 1 was interrupted"),
        "{run:#?}"
    );
    assert_eq!(run.json()["iteration"], 2);
    assert_eq!(world.count("implement"), 2);
}

// rows: U-28
// cases: 46, 55
#[test]
fn a_signal_ends_the_tick_in_a_state_that_goes_on() {
    for (signal, script) in [
        (Signal::TERM, LONG),
        (Signal::INT, LONG),
        (Signal::HUP, LONG),
    ] {
        let world = World::plain().with_loop();
        world.says("verify", verdict(true, 1.0, ""));
        world.role("implement", script);
        let tick = world.start(["tick", "L", "--json"]);
        wait_for(&world.rec("started.1"));
        tick.signal(signal);
        let told = tick.wait().rc(130).json();
        assert_eq!(told["outcome"], "interrupted", "{signal:?}");
        assert_eq!(told["reason"], "signal");
        assert_eq!(told["exit"], 130);
        assert!(world.processes().is_empty(), "{signal:?}");
        let state = world.state();
        assert_eq!(state["in_progress"], Value::Null);
        assert_eq!(state["paused"], false);
        assert_eq!(state["progress"]["t1"]["iteration"], 1);

        world.role("implement", QUICK);
        let run = world.run(["tick", "L", "--json"]).rc(0);
        assert_eq!(run.json()["outcome"], "pass");
        assert!(
            !run.err.contains("was interrupted"),
            "the end was told already: {run:#?}"
        );
    }
}

// cases: 46, 55
#[test]
fn a_second_signal_ends_a_step_that_does_not_listen() {
    let world = World::plain().with_loop();
    world.role(
        "implement",
        "trap '' TERM INT HUP; true >\"$REC/started\"; while :; do sleep 1; done",
    );
    let tick = world.start(["tick", "L", "--json"]);
    wait_for(&world.rec("started"));
    tick.signal(Signal::INT);
    tick.signal(Signal::TERM);
    assert_eq!(tick.wait().rc(130).json()["outcome"], "interrupted");
    assert!(world.processes().is_empty());
}

// scenarios: 25
// rows: L-09, L-10
// cases: 143
#[test]
fn of_twenty_ticks_at_once_one_runs() {
    let world = World::plain().with_loop();
    world.says("verify", verdict(true, 1.0, ""));
    world.role(
        "implement",
        "echo \"$n\" >>work.txt; until [ -e \"$REC/go\" ]; do sleep 0.02; done",
    );
    let mut waiting: Vec<_> = (0..20)
        .map(|_| world.start(["tick", "L", "--json"]))
        .collect();
    let mut over = Vec::new();
    // Nineteen give up while the one that runs is held.
    wait_until("nineteen ticks end", || {
        over.extend(waiting.extract_if(.., |tick| tick.is_over()));
        (waiting.len() == 1).then_some(())
    });
    fs::write(world.rec("go"), "").unwrap();
    for tick in over {
        let told = tick.wait().rc(0).json();
        assert_eq!(told["outcome"], "skipped");
        assert_eq!(told["skip_reason"], "locked");
        assert_eq!(told["tick"], Value::Null);
    }
    assert_eq!(waiting.remove(0).wait().rc(0).json()["outcome"], "pass");
    assert_eq!(world.count("implement"), 1);
    assert!(!world.log().contains("locked"), "{}", world.log());
}

// rows: L-15
// cases: 111
#[test]
fn a_tick_from_inside_a_tick_is_refused_and_does_not_hang() {
    let world = World::plain().with_loop();
    world.link_loop();
    world.says("verify", verdict(true, 1.0, ""));
    world.role(
        "implement",
        "echo >>work.txt; env -u AUTOMATON_ROLE AUTOMATON_TRUST=1 loop tick L --json >\"$REC/inner\"; echo $? >>\"$REC/inner\"",
    );
    assert_eq!(world.tick()["outcome"], "pass");
    let inner = fs::read_to_string(world.rec("inner")).unwrap();
    assert!(
        inner.contains("\"skip_reason\":\"locked\"") && inner.ends_with("\n0\n"),
        "{inner}"
    );
}

// rows: L-09
// cases: 113
#[test]
fn eight_loops_work_side_by_side_on_one_project() {
    let world = World::git();
    let names: Vec<_> = (1..=8).map(|n| format!("l{n}")).collect();
    world.says("verify", verdict(true, 1.0, ""));
    for name in &names {
        let command = r#"["rec","{prompt}"]"#;
        world
            .run([
                "create",
                name,
                "--from-template",
                "task",
                "--brief",
                "B",
                "--harness-command",
                command,
            ])
            .rc(0);
    }
    thread::scope(|scope| {
        let ticks: Vec<_> = names
            .iter()
            .map(|name| scope.spawn(|| world.run(["tick", name.as_str(), "--json"]).rc(0).json()))
            .collect();
        for tick in ticks {
            let told = tick.join().unwrap();
            assert_eq!(told["outcome"], "pass", "{told}");
        }
    });
    assert_eq!(world.count("implement"), 8);
    let branches = world.git_says(&["for-each-ref", "--format=%(refname)", "refs/heads/loop"]);
    assert_eq!(branches.lines().count(), 8);
    let mut folders: Vec<_> = world.calls().into_iter().map(|call| call.cwd).collect();
    folders.sort();
    folders.dedup();
    assert_eq!(folders.len(), 8);
}

// scenarios: 25
// rows: L-08
// cases: 107
#[test]
fn a_damaged_cache_is_made_anew_from_the_record() {
    for damage in ["", "{", "\0\0\0\0", "{\"version\":1}", "[]"] {
        let world = failing(World::plain().with_loop());
        world.tick();
        fs::write(world.in_loop(".state.json"), damage).unwrap();
        let run = world.run(["tick", "L", "--json"]).rc(0);
        assert_eq!(run.json()["iteration"], 2, "{damage:?}");
        let log = world.log();
        assert!(
            log.lines()
                .any(|line| line.contains("WARNING") && line.contains(".state.json")),
            "{damage:?}: {log}"
        );
    }
    let world = failing(World::plain().with_loop());
    world.tick();
    fs::remove_file(world.in_loop(".state.json")).unwrap();
    assert_eq!(world.progress()["iteration"], 1, "readers fold the record");
    assert_eq!(world.tick()["iteration"], 2);
}

// scenarios: 25
// rows: L-08
// cases: 107
#[test]
fn a_torn_end_of_the_record_is_cut_kept_and_told_of() {
    for torn in ["{\"v\":1,\"seq\":", "\0\0\0\0\0", "complete but bad\n", "x"] {
        let world = failing(World::plain().with_loop());
        world.tick();
        let path = world.in_loop("events.jsonl");
        let mut bytes = fs::read(&path).unwrap();
        bytes.extend_from_slice(torn.as_bytes());
        fs::write(&path, bytes).unwrap();
        let told = world.run(["tick", "L", "--json"]).rc(0).json();
        assert_eq!(told["iteration"], 2, "{torn:?}");
        assert!(
            world
                .log()
                .contains("WARNING the torn end of the log was cut")
        );
        let kept: Vec<_> = fs::read_dir(world.in_loop(""))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| {
                path.file_name()
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .starts_with("events.torn-")
            })
            .collect();
        assert_eq!(kept.len(), 1, "{torn:?}");
        assert_eq!(fs::read(&kept[0]).unwrap(), torn.as_bytes());
    }
}

// rows: L-08
// cases: 109
#[test]
fn a_record_that_vanishes_under_a_tick_stops_it() {
    let world = World::plain().with_loop();
    world.says("verify", verdict(true, 1.0, ""));
    let path = world.in_loop("events.jsonl").display().to_string();
    world.role("implement", &format!("echo >>work.txt; rm '{path}'"));
    let told = world.run(["tick", "L", "--json"]).rc(1).json();
    assert_eq!(told["outcome"], "error");
    assert_eq!(told["reason"], "state_removed");
    assert_eq!(world.phase("t1"), "research");
}

/// Kills ticks after random times, and checks the record after each.
fn random_kills(count: u64) {
    let world = World::plain().with(|config| {
        config["brakes"] = json!({"max_iterations": "unlimited", "no_progress_window": 0,
            "score_plateau_window": 0});
    });
    world.says("verify", verdict(false, 0.5, "h"));
    let mut random: u64 = 0x9e37_79b9_7f4a_7c15;
    for n in 1..=count {
        // xorshift: any sequence will do, and this one needs no crate.
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let tick = world.start(["tick", "L", "--json"]);
        thread::sleep(Duration::from_micros(random % 250_000));
        tick.signal(Signal::KILL);
        tick.wait();
        // Read as a file: the command would make this slow for many kills.
        let records = fs::read_to_string(world.in_loop("events.jsonl")).unwrap();
        let last: Value = serde_json::from_str(records.lines().last().unwrap()).unwrap();
        assert_eq!(last["seq"], records.lines().count(), "kill {n}");
    }
    let told = world.tick();
    assert_eq!(told["outcome"], "fail", "{told}");
    let closed = closed(&world);
    assert_eq!(told["tick"], closed.len(), "every tick is closed, once");
    assert_eq!(world.state()["spent"]["ticks"], closed.len());
    let implements = world.count("implement") as u64;
    let spent = world.progress()["iteration"].as_u64().unwrap();
    // An attempt is counted before its process starts, never after.
    assert!(
        (implements..=implements + count).contains(&spent),
        "{implements} calls, {spent} spent"
    );
    world.settle();
}

// rows: L-06, L-07
// cases: 55
#[test]
fn kills_at_random_times_leave_a_record_that_goes_on() {
    random_kills(12);
}

// rows: L-06, L-07
// cases: 55
#[test]
#[ignore = "takes minutes; run it by name"]
fn a_thousand_kills_at_random_times_leave_a_record_that_goes_on() {
    random_kills(1_000);
}

// rows: L-07, D-12
// cases: 109, 135
#[test]
fn a_record_that_an_agent_cleans_away_takes_no_limit_with_it() {
    let mut world = World::git();
    fs::create_dir_all(world.in_loop("")).unwrap();
    world = world.with(|config| config["brakes"] = serde_json::json!({"max_iterations": 2}));
    world.git_says(&[
        "add",
        "-f",
        ".automaton/loops/L/loop.json",
        ".automaton/loops/L/impl.md",
    ]);
    world.git_says(&["commit", "--quiet", "-m", "the loop", ".automaton"]);
    world.user_changed_something();
    world.role(
        "implement",
        "rm -f .automaton/loops/L/events.jsonl .automaton/loops/L/.state.json .automaton/loops/L/.lock",
    );
    for _ in 0..2 {
        let told = world.run(["tick", "L", "--json"]).rc(1).json();
        assert_eq!(told["reason"], "state_removed", "{told:#}");
    }
    let told = world.tick();
    assert_eq!(told["reason"], "max_iterations", "{told:#}");
    assert_eq!(world.count("implement"), 2);
    assert_eq!(world.state()["spent"]["ticks"], 3);
}
