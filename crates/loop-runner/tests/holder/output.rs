//! What goes in and out.

use crate::{
    runner::tests,
    support::{Yard, exited},
};
use loop_runner::holder::{Captured, StaleError, StartError, Stdin, Wish, end_stale, spawn};
use std::{fs, io::ErrorKind, os::unix::fs::symlink, time::Duration};

tests![
    null_input_ends_a_reader,
    there_is_no_terminal,
    bytes_and_files_are_read,
    input_that_is_not_read_blocks_nobody,
    streams_are_kept_apart,
    output_is_a_new_file_and_known_again,
    lock_that_leads_elsewhere_starts_nothing,
    flood_is_cut_in_flat_memory,
    environment_and_directory_are_exact,
];

// rows: H-36; cases: 51
fn null_input_ends_a_reader() {
    let yard = Yard::new();
    let ended = yard.run("read answer || echo nobody");
    assert_eq!(ended.how, exited(0));
    assert_eq!(yard.read("out"), "nobody\n");
}

// cases: 51
fn there_is_no_terminal() {
    let yard = Yard::new();
    let ended = yard.run("read answer </dev/tty; tail -c +1 /proc/self/stat");
    assert_eq!(ended.how, exited(0));
    let stat = yard.read("out");
    let (_, fields) = stat.rsplit_once(')').unwrap();
    assert_eq!(fields.split_whitespace().nth(4), Some("0"), "{stat}");
    assert!(yard.read("err").contains("/dev/tty"));
}

fn bytes_and_files_are_read() {
    let yard = Yard::new();
    let mut command = yard.command(&["cat"]);
    let bytes: Vec<u8> = (0..=255).cycle().take(300_000).collect();
    fs::write(yard.path("in"), &bytes).unwrap();
    for stdin in [Stdin::Bytes(bytes.clone()), Stdin::File(yard.path("in"))] {
        command.stdin = stdin;
        let ended = yard.finish(&command);
        assert_eq!(ended.stdout.total, 300_000);
        assert!(fs::read(yard.path("out")).unwrap() == bytes);
    }
}

// rows: H-36; cases: 51
fn input_that_is_not_read_blocks_nobody() {
    let yard = Yard::new();
    let mut command = yard.shell("echo hello");
    command.stdin = Stdin::Bytes(vec![b'x'; 4_000_000]);
    assert_eq!(yard.finish(&command).how, exited(0));
    assert_eq!(yard.read("out"), "hello\n");
}

fn streams_are_kept_apart() {
    let yard = Yard::new();
    let ended = yard.run("echo one; echo three >&2");
    assert_eq!((ended.stdout.total, ended.stderr.total), (4, 6));
    assert_eq!(
        (yard.read("out"), yard.read("err")),
        ("one\n".into(), "three\n".into())
    );
}

fn output_is_a_new_file_and_known_again() {
    let yard = Yard::new();
    fs::write(yard.path("precious"), "precious").unwrap();
    symlink(yard.path("precious"), yard.path("out")).unwrap();
    fs::hard_link(yard.path("precious"), yard.path("err")).unwrap();
    let ended = yard.run("echo one; echo three >&2");
    assert_eq!(yard.read("precious"), "precious");
    let copy = |captured: &Captured, name| {
        let mut bytes = Vec::new();
        captured.copy(&yard.path(name), &mut bytes).map(|()| bytes)
    };
    assert_eq!(copy(&ended.stdout, "out").unwrap(), b"one\n");
    assert_eq!(copy(&ended.stderr, "err").unwrap(), b"three\n");
    fs::write(yard.path("out"), "two\n").unwrap();
    let error = copy(&ended.stdout, "out").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidData);
}

fn lock_that_leads_elsewhere_starts_nothing() {
    let yard = Yard::new();
    fs::write(yard.path("precious"), "precious").unwrap();
    symlink(yard.path("precious"), yard.path("step.lock")).unwrap();
    let refused = spawn(&yard.shell("touch started")).unwrap_err();
    assert!(
        matches!(refused, StartError::LockForeign { .. }),
        "{refused}"
    );
    let stale = end_stale(&yard.path("step.lock"), Duration::ZERO).unwrap_err();
    assert!(matches!(stale, StaleError::LockForeign { .. }), "{stale}");
    assert_eq!(yard.read("precious"), "precious");
    assert!(!yard.path("started").exists());
}

// cases: 68
fn flood_is_cut_in_flat_memory() {
    let yard = Yard::new();
    let mut command =
        yard.shell("echo first; head -c 100000000 /dev/zero; echo last; touch done; sleep 600");
    command.output_cap = 1_000_000;
    command.timeout = Duration::from_secs(120);
    let done = yard.path("done");
    let mut peak = None;
    let ended = spawn(&command)
        .unwrap()
        .wait(|| {
            if done.exists() {
                peak = Some(peak_memory(yard.holder()));
                Wish::End
            } else {
                Wish::GoOn
            }
        })
        .unwrap();
    assert!(peak.unwrap() < 64_000_000, "{peak:?}");
    assert_eq!(ended.stdout.total, 100_000_011);
    assert_eq!(ended.stdout.kept(), 1_000_000);
    let kept = yard.read("out");
    assert!(kept.starts_with("first\n\0") && kept.ends_with("\0last\n"));
    assert!(kept.contains("\n[... 99000011 bytes omitted ...]\n"));
    assert!(kept.len() < 1_000_100);
}

/// The most memory that a process has had, in bytes.
fn peak_memory(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap();
    let kilobytes: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kilobytes * 1024
}

// rows: H-31, D-23
fn environment_and_directory_are_exact() {
    let yard = Yard::new();
    fs::create_dir(yard.path("inside")).unwrap();
    let mut command = yard.command(&["env"]);
    command.environment.set("ODD", "two\nlines");
    yard.finish(&command);
    let mut names: Vec<String> = yard
        .read("out")
        .lines()
        .filter_map(|line| Some(line.split_once('=')?.0.to_owned()))
        .collect();
    names.sort();
    assert_eq!(names, ["HOME", "ODD", "PATH"]);

    let mut command = yard.command(&["pwd", "-P"]);
    command.directory = yard.path("inside");
    yard.finish(&command);
    let inside = fs::canonicalize(yard.path("inside")).unwrap();
    assert_eq!(yard.read("out"), format!("{}\n", inside.display()));
}
