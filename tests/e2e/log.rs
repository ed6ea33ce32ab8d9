//! `loop log`: what a loop has done, also as it does it.

use crate::support::{World, verdict, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, ExitStatus, Stdio};

/// `loop log --follow`, whose output goes to a file.
struct Follow {
    child: Child,
    out: PathBuf,
}

impl Follow {
    fn start(world: &World, args: &[&str]) -> Self {
        let out = world.rec("followed");
        let mut command = world.command(["log", "L", "--follow"]);
        command.args(args).stdin(Stdio::null());
        command.stdout(File::create(&out).unwrap());
        Self {
            child: command.spawn().unwrap(),
            out,
        }
    }

    fn read(&self) -> String {
        fs::read_to_string(&self.out).unwrap()
    }

    fn wait_for(&self, what: &str) {
        wait_until(what, || self.read().contains(what).then_some(()));
    }

    fn end(mut self) -> (ExitStatus, String) {
        let pid = Pid::from_raw(self.child.id().try_into().unwrap()).unwrap();
        kill_process(pid, Signal::INT).unwrap();
        let status = wait_until("the command ends", || self.child.try_wait().unwrap());
        (status, self.read())
    }
}

impl Drop for Follow {
    fn drop(&mut self) {
        // A test that failed must not leave it behind.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn failing() -> World {
    let world = World::plain().with_loop();
    world.says("verify", verdict(false, 0.4, "h"));
    world
}

// rows: L-10, L-12
#[test]
fn the_last_lines_are_shown_and_what_is_written_from_then_on() {
    let world = failing();
    world.tick();
    let all = world.run(["log", "L"]).rc(0).out;
    let last: Vec<_> = all.lines().rev().take(2).collect();
    let told = world.run(["log", "L", "-n", "2"]).rc(0).out;
    assert_eq!(told.lines().rev().collect::<Vec<_>>(), last);
    assert_eq!(world.run(["log", "L", "--lines", "0"]).rc(0).out, "");

    let follow = Follow::start(&world, &["--lines", "1"]);
    follow.wait_for("the tick is closed");
    assert_eq!(follow.read().lines().count(), 1);
    world.tick();
    wait_until("the second tick is told of", || {
        (follow.read().matches("the tick is closed").count() == 2).then_some(())
    });
    let (status, told) = follow.end();
    assert_eq!(status.code(), Some(0), "{told}");
    let whole = world.log();
    assert!(whole.ends_with(&told) && told.lines().count() > 1, "{told}");
}

// cases: 65, 146
#[test]
fn a_line_that_is_being_written_is_shown_when_it_is_whole_and_without_controls() {
    let world = failing();
    world.tick();
    let follow = Follow::start(&world, &[]);
    follow.wait_for("the tick is closed");
    let mut options = OpenOptions::new();
    let mut log = options
        .append(true)
        .open(world.in_loop(".state.log"))
        .unwrap();
    log.write_all(b"first \x1b]0;title\x07half").unwrap();
    let before = follow.read();
    world.run(["list"]).rc(0);
    assert_eq!(follow.read(), before);
    log.write_all(b" second\xff half\n").unwrap();
    follow.wait_for("first half second\u{fffd} half");
    fs::remove_file(world.in_loop(".state.log")).unwrap();
    fs::write(world.in_loop(".state.log"), "a new file\n").unwrap();
    follow.wait_for("a new file");
    let (status, told) = follow.end();
    assert_eq!(status.code(), Some(0));
    assert!(!told.contains('\u{1b}'), "{told:?}");
}

// rows: L-12
#[test]
fn records_are_followed_as_they_are_past_a_log_that_was_put_aside() {
    let world = failing();
    world.tick();
    let follow = Follow::start(&world, &["--json"]);
    follow.wait_for("\"kind\":\"closed\"");
    // As an engine does it to a log that has grown (state.md, Growth).
    let events = world.in_loop("events.jsonl");
    let text = fs::read_to_string(&events).unwrap();
    let last = text.lines().last().unwrap();
    let count = text.lines().count();
    fs::write(world.in_loop("events.jsonl.new"), format!("{last}\n")).unwrap();
    let aside = world.in_loop(&format!("events-1-{count}.jsonl"));
    fs::hard_link(&events, &aside).unwrap();
    fs::rename(world.in_loop("events.jsonl.new"), &events).unwrap();
    world.tick();
    wait_until("the second tick is told of", || {
        (follow.read().matches("\"kind\":\"closed\"").count() == 2).then_some(())
    });
    let (status, told) = follow.end();
    assert_eq!(status.code(), Some(0), "{told}");
    let numbers: Vec<_> = told
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["seq"]
                .as_u64()
                .unwrap()
        })
        .collect();
    let expected: Vec<_> = (1..=numbers.len() as u64).collect();
    assert_eq!(numbers, expected, "none is missing and none is told twice");
    let whole = world.run(["log", "L", "--json"]).rc(0).out;
    assert_eq!(told, whole);
    let two = world.run(["log", "L", "--json", "--lines", "2"]).rc(0).out;
    assert!(whole.ends_with(&two) && two.lines().count() == 2);
}

// cases: 146
#[test]
fn a_reader_that_leaves_ends_it() {
    let world = failing();
    world.tick();
    let mut command = world.command(["log", "L", "--follow"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    let status = wait_until("the command ends", || child.try_wait().unwrap());
    assert_eq!(status.code(), Some(0));
}

// rows: C-17
#[test]
fn a_loop_without_a_log_and_one_that_is_not_there() {
    let world = World::plain();
    world.make_loop(|_| {});
    assert_eq!(
        world.run(["log", "L"]).rc(0).out,
        "L has not done anything yet\n"
    );
    world.write_config("{");
    world.run(["log", "L"]).rc(0);
    assert!(
        world
            .run(["log", "nope"])
            .rc(1)
            .error()
            .contains("no loop `nope`")
    );
    std::os::unix::fs::symlink("/etc/passwd", world.in_loop(".state.log")).unwrap();
    assert!(
        world
            .run(["log", "L"])
            .rc(1)
            .error()
            .contains("it is a link")
    );
}
