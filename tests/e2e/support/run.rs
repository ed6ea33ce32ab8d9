//! The command, run to its end or beside the test.

use super::wait_until;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::process::{Child, Output};

/// What a command gave.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Run {
    pub(super) fn new(output: Output) -> Self {
        let err = String::from_utf8(output.stderr).unwrap();
        assert!(!err.contains("panicked at"), "{err}");
        Self {
            // A signal leaves no code; -1 stands for that.
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err,
        }
    }

    /// Checks the exit code, and gives itself back.
    #[track_caller]
    pub(crate) fn rc(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self:#?}");
        self
    }

    /// Returns the last line of standard output as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        let last = self.out.lines().last();
        let last = last.unwrap_or_else(|| panic!("nothing on standard output: {self:#?}"));
        serde_json::from_str(last).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }

    /// Returns the one line on standard error that tells the error.
    #[track_caller]
    pub(crate) fn error(&self) -> &str {
        let errors: Vec<_> = self
            .err
            .lines()
            .filter_map(|line| line.strip_prefix("error: "))
            .collect();
        match errors[..] {
            [error] => error,
            _ => panic!("not one error: {self:#?}"),
        }
    }
}

/// A command that runs beside the test.
#[derive(Debug)]
pub(crate) struct Running {
    pub(super) child: Option<Child>,
}

impl Running {
    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        let id = self.child.as_ref().unwrap().id();
        let pid = Pid::from_raw(id.try_into().unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// Whether it has ended.
    pub(crate) fn is_over(&mut self) -> bool {
        self.child.as_mut().unwrap().try_wait().unwrap().is_some()
    }

    /// Waits for its end.
    pub(crate) fn wait(mut self) -> Run {
        wait_until("the command ends", || {
            self.child.as_mut().unwrap().try_wait().unwrap()
        });
        Run::new(self.child.take().unwrap().wait_with_output().unwrap())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            // The test has failed already; it must not leave anything behind.
            drop(child.kill());
            drop(child.wait());
        }
    }
}
