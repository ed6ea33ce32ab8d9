//! On a terminal: lines that are drawn over and over.

use super::{HELD, one_phase};
use crate::support::{World, verdict, wait_for, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};

const COLUMNS: u16 = 20;

/// A command on a terminal of its own.
struct OnTerminal {
    child: Child,
    screen: JoinHandle<Vec<u8>>,
}

impl OnTerminal {
    fn start(mut command: Command) -> Self {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&ours).unwrap();
        unlockpt(&ours).unwrap();
        let name = ptsname(&ours, Vec::new()).unwrap();
        let theirs = OpenOptions::new()
            .read(true)
            .write(true)
            .open(name.to_str().unwrap())
            .unwrap();
        let size = Winsize {
            ws_row: 10,
            ws_col: COLUMNS,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&theirs, size).unwrap();
        command.env("TERM", "xterm");
        command.stdin(Stdio::null());
        command.stdout(theirs.try_clone().unwrap()).stderr(theirs);
        let child = command.spawn().unwrap();
        // The command holds the terminal; when it lets go, reading ends.
        drop(command);
        let screen = thread::spawn(move || {
            let mut shown = Vec::new();
            // The end of the other side is an error here.
            let _end = File::from(ours).read_to_end(&mut shown);
            shown
        });
        Self { child, screen }
    }

    fn interrupt(&self) {
        let pid = Pid::from_raw(self.child.id().try_into().unwrap()).unwrap();
        kill_process(pid, Signal::INT).unwrap();
    }

    /// Returns the exit code, and everything that was written to the terminal.
    fn end(mut self) -> (i32, String) {
        let status = wait_until("the command ends", || self.child.try_wait().unwrap());
        let shown = self.screen.join().unwrap();
        (status.code().unwrap(), String::from_utf8(shown).unwrap())
    }
}

/// Returns the lines that were drawn.
fn drawn(shown: &str) -> Vec<&str> {
    let ended = shown.split("\u{1b}[K").collect::<Vec<_>>();
    let (_, ended) = ended.split_last().unwrap();
    ended
        .iter()
        .map(|text| text.rsplit(['\r', '\n', 'A', 'J']).next().unwrap())
        .collect()
}

// cases: 65, 146
#[test]
fn a_line_for_each_loop_is_drawn_inside_of_the_terminal_and_taken_away() {
    let world = World::plain().with(one_phase);
    world.says("verify", verdict(true, 1.0, ""));
    world.role("implement", HELD);
    let started = OnTerminal::start(world.command(["start", "L"]));
    wait_for(&world.rec("started.1"));
    std::fs::write(world.rec("go"), "").unwrap();
    let (code, shown) = started.end();
    assert_eq!(code, 0, "{shown:?}");
    let lines = drawn(&shown);
    assert!(
        lines.iter().any(|line| line.contains("impleme~")),
        "{lines:?}"
    );
    for line in &lines {
        let columns = line.chars().count();
        assert!(columns < usize::from(COLUMNS), "{columns}: {line:?}");
    }
    let at = |text: &str| {
        shown
            .find(text)
            .unwrap_or_else(|| panic!("{text:?}: {shown:?}"))
    };
    assert!(at("\u{1b}[?25l") < at("\u{1b}[?25h"));
    assert!(shown.ends_with("\u{1b}[?25h"), "{shown:?}");
    assert!(at("L tick 1: pass") < at("L: done after 1 tick"));
}

// rows: U-28
#[test]
fn the_terminal_is_as_before_after_a_signal() {
    let world = World::plain().with(one_phase);
    world.role("implement", HELD);
    let started = OnTerminal::start(world.command(["start", "L"]));
    wait_for(&world.rec("started.1"));
    started.interrupt();
    let (code, shown) = started.end();
    assert_eq!(code, 130, "{shown:?}");
    assert!(shown.ends_with("\u{1b}[?25h"), "{shown:?}");
    assert!(shown.contains("go on with: loop start L"), "{shown:?}");
}

// cases: 146
#[test]
fn a_terminal_that_cannot_redraw_gets_plain_lines() {
    let world = World::plain().with(one_phase);
    world.says("verify", verdict(true, 1.0, ""));
    let mut command = world.command(["start", "L", "--color", "never"]);
    command.env("TERM", "xterm");
    command.args(["--quiet"]);
    let (code, shown) = OnTerminal::start(command).end();
    assert_eq!(code, 0);
    assert!(!shown.contains('\u{1b}'), "{shown:?}");
}
