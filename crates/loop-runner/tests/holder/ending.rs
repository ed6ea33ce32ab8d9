//! Every way a command ends, and that nothing of it is left.

use crate::{
    runner::tests,
    support::{HANG, Yard, kill},
};
use loop_runner::holder::{Containment, How, Wish, spawn};
use std::time::Duration;

tests![
    exit_code_and_signal_are_told_apart,
    timeout_ends_sessions_of_their_own,
    orphans_are_ended_when_the_child_exits,
    quick_stragglers_may_finish,
    orphan_that_ignores_sigterm_is_killed,
    child_that_ignores_sigterm_is_killed_after_the_grace,
    stopped_processes_are_ended_in_grace,
    wish_ends_a_command_and_its_last_words_are_kept,
    second_wish_cuts_the_grace_short,
    wish_after_the_exit_changes_nothing,
    signal_to_the_holder_is_a_wish,
    dropping_ends_the_command,
    limits_hold_while_the_engine_is_busy,
    silence_is_ended,
    noise_is_not_silence,
];

/// Starts `sleep` in a session of its own, twice removed from the child.
const ESCAPE: &str = "setsid sh -c 'setsid sleep 600 & setsid sleep 600' & ";

// cases: 54
fn exit_code_and_signal_are_told_apart() {
    for (script, how) in [
        ("exit 0", How::Exited(0)),
        ("exit 137", How::Exited(137)),
        ("kill -9 $$", How::Signaled(9)),
        ("kill -15 $$", How::Signaled(15)),
    ] {
        let ended = Yard::new().run(script);
        assert_eq!(ended.how, how, "{script}");
        assert!(!ended.leaked, "{script}");
        assert!(ended.survivors.is_empty(), "{script}");
        assert_eq!(ended.containment, Containment::Holder);
    }
}

// rows: H-38, U-20; cases: 46, 47
fn timeout_ends_sessions_of_their_own() {
    let yard = Yard::new();
    let mut command = yard.shell(&format!(
        "{ESCAPE} (while :; do sleep 0.01; done) & sleep 600"
    ));
    command.timeout = Duration::from_millis(500);
    let ended = yard.finish(&command);
    assert_eq!(ended.how, How::TimedOut);
    assert!(ended.elapsed >= command.timeout);
    assert!(ended.elapsed < HANG);
}

// cases: 47
fn orphans_are_ended_when_the_child_exits() {
    let yard = Yard::new();
    // The orphans hold the pipes, which must not keep anyone waiting.
    let ended = yard.run(&format!("{ESCAPE} echo done; exit 3"));
    assert_eq!(ended.how, How::Exited(3));
    assert!(ended.leaked);
    assert_eq!(yard.read("out"), "done\n");
}

fn quick_stragglers_may_finish() {
    let yard = Yard::new();
    let ended = yard.run("(sleep 0.05; echo late) & echo early");
    assert_eq!(yard.read("out"), "early\nlate\n");
    assert!(!ended.leaked);
}

fn orphan_that_ignores_sigterm_is_killed() {
    let yard = Yard::new();
    let mut command = yard.shell("setsid sh -c 'trap \"\" TERM; touch ready; while :; do sleep 600; done' & while ! [ -e ready ]; do sleep 0.01; done");
    command.grace = Duration::from_millis(300);
    let ended = yard.finish(&command);
    assert_eq!(ended.how, How::Exited(0));
    assert!(ended.leaked);
    assert!(ended.elapsed >= command.grace);
}

// rows: U-20
fn child_that_ignores_sigterm_is_killed_after_the_grace() {
    let yard = Yard::new();
    let mut command = yard.shell("trap 'echo no' TERM; touch ready; while :; do sleep 0.02; done");
    command.grace = Duration::from_millis(300);
    let running = spawn(&command).unwrap();
    let ready = yard.path("ready");
    let ended = running
        .wait(|| {
            if ready.exists() {
                Wish::End
            } else {
                Wish::GoOn
            }
        })
        .unwrap();
    yard.assert_deserted();
    assert_eq!(ended.how, How::Ended);
    assert!(ended.elapsed >= command.grace);
    assert!(yard.read("out").starts_with("no\n"));
}

fn stopped_processes_are_ended_in_grace() {
    let yard = Yard::new();
    // The grace is longer than the hang guard: SIGKILL would come too late.
    let mut command = yard.shell("kill -STOP $$");
    command.timeout = Duration::from_millis(200);
    command.grace = 2 * HANG;
    let ended = yard.finish(&command);
    assert_eq!(ended.how, How::TimedOut);
    assert!(ended.elapsed < HANG);
}

// cases: 46
fn wish_ends_a_command_and_its_last_words_are_kept() {
    let yard = Yard::new();
    let script =
        format!("trap 'echo bye; exit 0' TERM; {ESCAPE} touch ready; while :; do sleep 0.02; done");
    let running = spawn(&yard.shell(&script)).unwrap();
    yard.wait_for("ready");
    let ended = running.wait(|| Wish::End).unwrap();
    yard.assert_deserted();
    assert_eq!(ended.how, How::Ended, "though it exited with 0");
    assert_eq!(yard.read("out"), "bye\n");
}

// cases: 55
fn second_wish_cuts_the_grace_short() {
    let yard = Yard::new();
    let mut command =
        yard.shell("trap 'touch asked' TERM; touch ready; while :; do sleep 0.02; done");
    command.grace = 2 * HANG;
    command.timeout = 2 * HANG;
    let running = spawn(&command).unwrap();
    let (ready, asked) = (yard.path("ready"), yard.path("asked"));
    let ended = running
        .wait(|| match (ready.exists(), asked.exists()) {
            (_, true) => Wish::Kill,
            (true, false) => Wish::End,
            (false, false) => Wish::GoOn,
        })
        .unwrap();
    yard.assert_deserted();
    assert_eq!(ended.how, How::Ended);
    assert!(ended.elapsed < HANG);
}

fn wish_after_the_exit_changes_nothing() {
    let yard = Yard::new();
    // The straggler keeps the step alive after the child's exit.
    let script = "(trap 'exit' TERM; while :; do sleep 0.02; done) & touch ready; exit 4";
    let running = spawn(&yard.shell(script)).unwrap();
    let child = yard.path(&format!("/proc/{}", running.pid()));
    let ended = running
        .wait(|| {
            if child.exists() {
                Wish::GoOn
            } else {
                Wish::End
            }
        })
        .unwrap();
    assert_eq!(ended.how, How::Exited(4));
    assert!(ended.leaked);
}

fn signal_to_the_holder_is_a_wish() {
    for signal in ["TERM", "INT", "HUP"] {
        let yard = Yard::new();
        let running = spawn(&yard.shell(&format!("{ESCAPE} touch ready; sleep 600"))).unwrap();
        yard.wait_for("ready");
        kill(yard.holder(), signal);
        let ended = running.wait(|| Wish::GoOn).unwrap();
        yard.assert_deserted();
        assert_eq!(ended.how, How::Ended, "{signal}");
    }
}

fn dropping_ends_the_command() {
    let yard = Yard::new();
    let running = spawn(&yard.shell(&format!("{ESCAPE} touch ready; sleep 600"))).unwrap();
    yard.wait_for("ready");
    drop(running);
    yard.assert_deserted();
}

fn limits_hold_while_the_engine_is_busy() {
    let yard = Yard::new();
    let mut command = yard.shell("sleep 600");
    command.timeout = Duration::from_millis(200);
    let busy = || {
        yard.wait_until_deserted();
        Wish::GoOn
    };
    let ended = spawn(&command).unwrap().wait(busy).unwrap();
    assert_eq!(ended.how, How::TimedOut);
}

// cases: 52
fn silence_is_ended() {
    let yard = Yard::new();
    let mut command = yard.shell("echo '{\"result\":1}'; sleep 600");
    command.idle_timeout = Some(Duration::from_millis(300));
    let ended = yard.finish(&command);
    assert_eq!(ended.how, How::IdleTimedOut);
    assert!(ended.elapsed >= Duration::from_millis(300));
    assert_eq!(yard.read("out"), "{\"result\":1}\n");
}

// cases: 52
fn noise_is_not_silence() {
    let yard = Yard::new();
    // On either stream; the whole takes longer than the silence allowed.
    let mut command =
        yard.shell("for i in 1 2 3 4 5 6 7; do echo $i >&$((i % 2 + 1)); sleep 0.2; done");
    command.idle_timeout = Some(Duration::from_secs(1));
    let ended = yard.finish(&command);
    assert_eq!(ended.how, How::Exited(0));
    assert_eq!(yard.read("out"), "2\n4\n6\n");
    assert_eq!(yard.read("err"), "1\n3\n5\n7\n");
}
