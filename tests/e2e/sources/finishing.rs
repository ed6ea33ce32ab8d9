//! Telling a source that its item is done, once and also after a crash.

use super::{ends, read_backlog, with_backlog, with_source, write_backlog};
use crate::support::{World, verdict, wait_for};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::fs;

const ITEMS: &str = r#"[{"id": "a b;$(x)", "title": "One", "body": "All."},
    {"id": "2", "title": "Two"}]"#;

/// Makes a loop whose items are closed by a program that `script` is the end of.
fn closing(script: &str) -> World {
    let world = World::plain();
    fs::write(world.rec("items"), ITEMS).unwrap();
    world.program("tracker", "#!/bin/sh\ncat \"$REC/items\"\n");
    world.program(
        "closer",
        &format!("#!/bin/sh\necho \"$#:$1:$2\" >>\"$REC/closed\"\ncat >\"$REC/stdin\"\n{script}\n"),
    );
    let source = json!({
        "kind": "command",
        "command": ["tracker"],
        "done_command": ["closer", "--id={id}", "{id}"],
    });
    with_source(world, &source, |_| {})
}

fn closed(world: &World) -> String {
    fs::read_to_string(world.rec("closed")).unwrap_or_default()
}

// rows: S-30
// cases: 148
#[test]
fn the_done_command_gets_the_item_as_data() {
    let world = closing("");
    assert_eq!(world.tick()["outcome"], "pass");
    assert_eq!(closed(&world), "2:--id=a b;$(x):a b;$(x)\n");
    let stdin = fs::read(world.rec("stdin")).unwrap();
    let stdin: Value = serde_json::from_slice(&stdin).unwrap();
    let item = json!({"id": "a b;$(x)", "title": "One", "body": "All.", "url": null});
    assert_eq!(stdin, item);
}

// rows: S-19
#[test]
fn a_done_command_that_fails_is_tried_again_before_any_other_work() {
    let world = closing("if [ -e \"$REC/down\" ]; then echo down >&2; exit 1; fi");
    fs::write(world.rec("down"), "").unwrap();
    let told = world.run(["tick", "L", "--json"]).rc(1).json();
    let task = told["task"].as_str().unwrap().to_owned();
    ends(&told, "error", "source_failed", Some(&task));
    let why = told["why"].as_str().unwrap();
    assert!(
        why.contains("is complete, but its source could not be told"),
        "{why}"
    );
    assert!(why.contains("closer exited with 1: down"), "{why}");
    assert_eq!(world.phase(&task), "complete");

    let told = world.run(["tick", "L", "--json"]).rc(1).json();
    assert_eq!(told["reason"], "source_failed");
    assert_eq!(told["tick"], Value::Null, "it is no tick");
    let calls = world.calls().len();
    assert_eq!(calls, 2, "nothing is spent meanwhile");
    fs::remove_file(world.rec("down")).unwrap();
    let told = world.tick();
    assert_eq!(told["outcome"], "pass");
    assert!(
        told["task"].as_str().unwrap().starts_with("two-"),
        "{told:#}"
    );
    let closed = closed(&world);
    let ids: Vec<_> = closed
        .lines()
        .map(|line| line.rsplit(':').next().unwrap())
        .collect();
    assert_eq!(ids, ["a b;$(x)", "a b;$(x)", "a b;$(x)", "2"]);
}

// rows: U-28
#[test]
fn a_paused_loop_tells_its_source_nothing_until_it_goes_on() {
    let world = closing("[ ! -e \"$REC/down\" ]");
    fs::write(world.rec("down"), "").unwrap();
    world.run(["tick", "L"]).rc(1);
    world.run(["pause", "L"]).rc(0);
    let told = world.tick();
    ends(&told, "skipped", "paused", told["task"].as_str());
    assert_eq!(closed(&world).lines().count(), 1);
    fs::remove_file(world.rec("down")).unwrap();
    world.run(["resume", "L"]).rc(0);
    let told = world.tick();
    assert_eq!(told["outcome"], "pass", "{told:#}");
    assert_eq!(closed(&world).lines().count(), 3);
}

// rows: U-28
#[test]
fn a_stop_ends_the_program_that_is_running() {
    let world = closing("[ -e \"$REC/second\" ] || { true >\"$REC/second\"; sleep 600; }");
    let tick = world.start(["tick", "L", "--json"]);
    wait_for(&world.rec("second"));
    world.run(["stop", "L"]).rc(0);
    let told = tick.wait().json();
    assert_ne!(told["outcome"], "pass", "{told:#}");
    world.run(["resume", "L"]).rc(0);
    assert_eq!(world.tick()["outcome"], "pass");

    let world = closing("");
    world.program(
        "tracker",
        "#!/bin/sh\ntrue >\"$REC/asked\"; [ -e \"$REC/go\" ] || sleep 600; cat \"$REC/items\"\n",
    );
    let tick = world.start(["tick", "L", "--json"]);
    wait_for(&world.rec("asked"));
    world.run(["stop", "L"]).rc(0);
    let told = tick.wait().json();
    ends(&told, "skipped", "paused", None);
    assert!(world.calls().is_empty());
    fs::write(world.rec("go"), "").unwrap();
    world.run(["resume", "L"]).rc(0);
    assert_eq!(world.tick()["outcome"], "pass");
}

// cases: 55, 107
#[test]
fn a_done_command_that_was_killed_is_run_again_and_the_work_is_not() {
    let world = closing("[ -e \"$REC/second\" ] || { true >\"$REC/second\"; sleep 60; }");
    let tick = world.start(["tick", "L"]);
    wait_for(&world.rec("second"));
    tick.signal(Signal::KILL);
    tick.wait();
    for (tick, task) in [(1, "one-"), (2, "two-")] {
        let told = world.tick();
        assert_eq!(
            (&told["tick"], &told["outcome"]),
            (&json!(tick), &json!("pass"))
        );
        assert!(told["task"].as_str().unwrap().starts_with(task), "{told:#}");
    }
    assert_eq!(world.count("implement"), 2);
    assert_eq!(closed(&world).lines().count(), 3);
}

// cases: 55
#[test]
fn a_signal_during_the_done_command_ends_it_and_it_is_owed() {
    let world = closing("[ -e \"$REC/second\" ] || { true >\"$REC/second\"; sleep 60; }");
    let tick = world.start(["tick", "L", "--json"]);
    wait_for(&world.rec("second"));
    tick.signal(Signal::TERM);
    let told = tick.wait().json();
    assert_eq!(told["reason"], "source_failed", "{told:#}");
    let told = world.tick();
    assert!(
        told["task"].as_str().unwrap().starts_with("two-"),
        "{told:#}"
    );
    assert_eq!(closed(&world).lines().count(), 3);
}

/// Takes what a person makes of the item before approving the work on it.
fn edited_meanwhile(new: &str) -> World {
    let world = with_backlog(
        World::plain(),
        "- [ ] **a** old words\n- [ ] **b**\n",
        |config| config["approval_phases"] = json!(["implement"]),
    );
    let told = world.tick();
    ends(&told, "human_intervention", "approval_required", Some("a"));
    write_backlog(world.project(), &format!("{new}\n- [ ] **b**\n"));
    world
}

// rows: S-30
#[test]
fn an_item_that_a_person_has_edited_meanwhile_is_a_conflict_and_nothing_is_ticked() {
    for new in [
        "- [ ] **a** new words",
        "- [~] **a** old words",
        "- [ ] **other**",
        "",
    ] {
        let world = edited_meanwhile(new);
        let approved = world.run(["approve", "L"]).rc(0);
        assert!(
            approved.err.contains("still waits for a person"),
            "{approved:?}"
        );
        let told = world.tick();
        assert_eq!(told["skip_reason"], "human_intervention");
        assert!(
            told["why"].as_str().unwrap().contains("was not ticked"),
            "{told:#}"
        );
        let doing = told["do"].as_str().unwrap();
        assert!(doing.contains("loop approve L"), "{doing}");
        let text = format!("{new}\n- [ ] **b**\n");
        assert_eq!(read_backlog(&world), text);
        assert_eq!(world.phase("a"), "complete");

        let approved = world.run(["approve", "L"]).rc(0);
        assert_eq!(approved.err, "");
        let told = world.tick();
        ends(
            &told,
            "human_intervention",
            "approval_required",
            told["task"].as_str(),
        );
        assert_ne!(told["task"], "a", "{new}");
    }
}

// rows: S-30
#[test]
fn an_item_that_was_moved_or_ticked_meanwhile_is_no_conflict() {
    for (new, then) in [
        ("- [x] **a** old words", "- [x] **a** old words"),
        (
            "- [ ] **new one**\n- [ ] **a** old words",
            "- [ ] **new one**\n- [x] **a** old words",
        ),
    ] {
        let world = edited_meanwhile(new);
        let approved = world.run(["approve", "L"]).rc(0);
        assert_eq!(approved.err, "");
        assert_eq!(read_backlog(&world), format!("{then}\n- [ ] **b**\n"));
        assert_eq!(world.phase("a"), "complete");
    }
}

// rows: B-12, S-30
#[test]
fn an_approved_item_is_ticked_when_a_person_approves_it() {
    let world = with_backlog(World::plain(), "- [ ] **a**\n", |config| {
        config["approval_phases"] = json!(["implement"]);
    });
    ends(
        &world.tick(),
        "human_intervention",
        "approval_required",
        Some("a"),
    );
    assert_eq!(read_backlog(&world), "- [ ] **a**\n");
    world.run(["approve", "L"]).rc(0);
    assert_eq!(read_backlog(&world), "- [x] **a**\n");
    assert_eq!(world.phase("a"), "complete");
}

/// The engine dies at each of its records; builds without debug assertions have
/// no such points.
#[cfg(debug_assertions)]
// rows: L-06, L-07
// cases: 55, 107
#[test]
fn a_kill_at_any_record_ends_in_exactly_one_ticked_box() {
    for point in ["append.written", "step.begun"] {
        for passage in 1.. {
            let world = with_backlog(World::plain(), "- [ ] **a**\n- [ ] **b**\n", |_| {});
            let mut command = world.command(["tick", "L"]);
            command.env("LOOP_FAULT", format!("{point}:{passage}"));
            let code = world.finish(command).code;
            let at = format!("{point}:{passage}");
            if code != -1 {
                assert!(passage > 1, "{point} is never passed");
                break;
            }
            let mut ticks = 0;
            while read_backlog(&world).contains("[ ] **a**") {
                assert_eq!(world.tick()["outcome"], "pass", "{at}");
                ticks += 1;
                assert!(ticks <= 2, "{at}: {}", read_backlog(&world));
            }
            assert_eq!(world.phase("a"), "complete", "{at}");
            assert_eq!(world.state()["to_finish"], json!([]), "{at}");
            world.settle();
        }
    }
}

// cases: 88
#[test]
fn an_item_that_an_agent_has_replaced_among_the_outputs_ticks_nothing() {
    write_and_check("rm -f $out/tick1-item.json");
    write_and_check("ln -sf /etc/hostname $out/tick1-item.json");
    write_and_check("tr a b <$out/tick1-item.json >x; mv x $out/tick1-item.json");
}

fn write_and_check(script: &str) {
    let world = with_backlog(World::plain(), "- [ ] **a**\n- [ ] **b**\n", |_| {});
    write_backlog(world.project(), "- [ ] **a**\n- [ ] **b**\n");
    let out = "out=$AUTOMATON_PROJECT/.automaton/loops/L/outputs";
    world.role("implement", &format!("echo x >>work.txt\n{out}\n{script}"));
    world.says("verify", verdict(true, 1.0, ""));
    let told = world.tick();
    ends(&told, "human_intervention", "conflict", Some("a"));
    assert_eq!(
        read_backlog(&world),
        "- [ ] **a**\n- [ ] **b**\n",
        "{script}"
    );
}
