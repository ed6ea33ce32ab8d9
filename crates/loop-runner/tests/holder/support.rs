//! A folder to run in, commands, and eyes for processes.

use loop_runner::holder::{Command, Ended, How, Wish, spawn};
use std::{
    ffi::OsString,
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, ExitCode, Stdio},
    thread,
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// Longer than anything here takes; passing it means a hang.
pub(crate) const HANG: Duration = Duration::from_secs(30);

/// A folder of one test, and everything that was started in it.
pub(crate) struct Yard(TempDir);

impl Yard {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        String::from_utf8_lossy(&fs::read(self.path(name)).unwrap()).into_owned()
    }

    pub(crate) fn command(&self, argv: &[&str]) -> Command {
        command(self.0.path(), argv)
    }

    pub(crate) fn shell(&self, script: &str) -> Command {
        self.command(&["sh", "-c", script])
    }

    /// Runs `script` to its end and checks that nothing of it is left.
    pub(crate) fn run(&self, script: &str) -> Ended {
        self.finish(&self.shell(script))
    }

    pub(crate) fn finish(&self, command: &Command) -> Ended {
        let ended = spawn(command).unwrap().wait(|| Wish::GoOn).unwrap();
        self.assert_deserted();
        ended
    }

    /// Checks that no process has this folder in its environment.
    pub(crate) fn assert_deserted(&self) {
        let left = self.inhabitants();
        assert!(left.is_empty(), "still alive: {left:?}");
    }

    /// Lists processes that a command of this folder started, wherever they
    /// have gone: the environment stays with them.
    pub(crate) fn inhabitants(&self) -> Vec<String> {
        let mark = format!("HOME={}\0", self.0.path().display());
        fs::read_dir("/proc")
            .unwrap()
            .flatten()
            .filter(|folder| {
                let environment = fs::read(folder.path().join("environ")).unwrap_or_default();
                String::from_utf8_lossy(&environment).contains(&mark)
            })
            .map(|folder| {
                let line = fs::read(folder.path().join("cmdline")).unwrap_or_default();
                let line = String::from_utf8_lossy(&line).replace('\0', " ");
                format!("{} {line}", folder.file_name().display())
            })
            .collect()
    }

    pub(crate) fn wait_for(&self, name: &str) {
        let path = self.path(name);
        wait_until(name, || path.exists());
    }

    pub(crate) fn wait_until_deserted(&self) {
        wait_until("nobody is left", || self.inhabitants().is_empty());
    }

    /// Starts an engine of its own that runs `script`.
    pub(crate) fn engine(&self, mode: &str, script: &str) -> Engine {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap())
            .args([mode, self.0.path().to_str().unwrap(), script])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Engine { child, output }
    }

    /// Returns the process that has signed the lock.
    pub(crate) fn holder(&self) -> u32 {
        let text = self.read("step.lock");
        text.split_whitespace().nth(1).unwrap().parse().unwrap()
    }
}

/// An engine in a process of its own.
pub(crate) struct Engine {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Engine {
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn say(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The life of an engine: runs `script`, says how it ended, and whether that
/// leaves it without children.
pub(crate) fn play_engine(folder: &Path, script: &str) -> ExitCode {
    match spawn(&command(folder, &["sh", "-c", script])) {
        Ok(running) => {
            println!("{:?}", running.wait(|| Wish::GoOn).map(|ended| ended.how));
            let child = rustix::process::wait(rustix::process::WaitOptions::NOHANG);
            println!(
                "childless: {}",
                child.is_err_and(|errno| errno == rustix::io::Errno::CHILD)
            );
        }
        Err(error) => println!("{error}"),
    }
    ExitCode::SUCCESS
}

/// The life of an engine that has another step and a child of its own.
pub(crate) fn play_engine_of_two(folder: &Path, script: &str) -> ExitCode {
    let one = spawn(&command(folder, &["sh", "-c", script])).unwrap();
    let patient = "while ! [ -e go ]; do sleep 0.02; done; exit 3";
    let two = Command {
        step_lock: folder.join("other.lock"),
        stdout: folder.join("other.out"),
        stderr: folder.join("other.err"),
        ..command(folder, &["setsid", "--wait", "sh", "-c", patient])
    };
    let two = spawn(&two).unwrap();
    let mut own = std::process::Command::new("sleep")
        .arg("600")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lost = one.wait(|| Wish::GoOn).map(|ended| ended.how);
    fs::write(folder.join("go"), "").unwrap();
    println!("{lost:?}");
    let two = two.wait(|| Wish::GoOn).map(|ended| ended.how);
    println!("other step: {two:?}");
    println!("own child: {:?}", own.try_wait().unwrap());
    own.kill().unwrap();
    own.wait().unwrap();
    ExitCode::SUCCESS
}

fn command(folder: &Path, argv: &[&str]) -> Command {
    let path = std::env::var_os("PATH").unwrap();
    let environment = [("PATH".into(), path), ("HOME".into(), folder.into())];
    Command {
        timeout: HANG,
        grace: Duration::from_secs(10),
        lock_patience: Duration::from_secs(5),
        ..Command::new(
            argv.iter().map(OsString::from).collect(),
            folder.to_owned(),
            environment.into_iter().collect(),
            [folder.join("out"), folder.join("err")],
            folder.join("step.lock"),
        )
    }
}

pub(crate) fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let began = Instant::now();
    while !condition() {
        assert!(began.elapsed() < HANG, "waited too long until {what}");
        thread::sleep(Duration::from_millis(10));
    }
}

pub(crate) fn kill(pid: u32, signal: &str) {
    let status = std::process::Command::new("kill")
        .args(["-s", signal, &pid.to_string()])
        .status()
        .unwrap();
    assert!(status.success());
}

pub(crate) fn exited(code: i32) -> How {
    How::Exited(code)
}
