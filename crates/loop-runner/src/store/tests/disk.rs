//! A disk that is full, or may not be written.

use super::rig::{Rig, control, perform, rules};
use crate::store::{HeldError, read_state, submit};
use loop_core::control::Request;
use loop_core::outcome::{Error, Outcome};
use std::fs;
use std::path::Path;
use std::process::Command;

/// A file system of 64 KiB.
struct Small<'a>(&'a Path);

impl<'a> Small<'a> {
    fn mount(at: &'a Path) -> Option<Self> {
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"])
            .arg(at)
            .output();
        mounted
            .is_ok_and(|output| output.status.success())
            .then_some(Self(at))
    }
}

impl Small<'_> {
    fn remount(&self, how: &str) {
        let remounted = Command::new("mount")
            .args(["-o", &format!("remount,{how}")])
            .arg(self.0)
            .status();
        assert!(remounted.unwrap().success());
    }
}

impl Drop for Small<'_> {
    fn drop(&mut self) {
        let _status = Command::new("umount").arg(self.0).status();
    }
}

// cases: 107
#[test]
fn a_full_disk_leaves_the_machine_and_the_log_in_step() {
    let temp = tempfile::tempdir().unwrap();
    let Some(_small) = Small::mount(temp.path()) else {
        println!("skipped: a small file system cannot be mounted here");
        return;
    };
    let rig = Rig::at(temp.path().join("L"));
    fs::create_dir(rig.dir.root()).unwrap();
    let mut held = rig.open();
    held.start(rules()).unwrap();
    while held.machine().action().unwrap().step() != loop_core::Step::Verify {
        perform(&mut held, 0);
    }
    // Its record is larger than what is left of the log's last page.
    let mut pause = control("p", Request::Pause);
    pause.note = Some("x".repeat(5_000));
    submit(&rig.dir.control(), &pause).unwrap();
    let filler = temp.path().join("filler");
    let _full = fs::write(&filler, vec![b'x'; 128 * 1024]).unwrap_err();

    let (log, machine) = (rig.log(), held.machine().clone());
    let refused = held.drain().unwrap_err();
    assert!(matches!(refused, HeldError::File(_)), "{refused}");
    assert_eq!(refused.outcome(), Outcome::Error(Error::Disk));
    assert_eq!(rig.control_files().len(), 1, "the request waits");
    assert_eq!(held.machine(), &machine, "nothing has happened");
    assert_eq!(rig.log(), log, "what was half written is gone");
    assert_eq!(&read_state(&rig.dir).unwrap().state, machine.state());

    fs::remove_file(filler).unwrap();
    held.drain().unwrap();
    while perform(&mut held, 0) {}
    assert!(held.machine().state().paused);
    assert_eq!(&read_state(&rig.dir).unwrap().state, held.machine().state());
    drop(held);
    assert_eq!(rig.open().machine().state().tick, 1);
}

// cases: 156
#[test]
fn a_disk_that_may_not_be_written_is_told_of_and_nothing_is_started() {
    let temp = tempfile::tempdir().unwrap();
    let Some(small) = Small::mount(temp.path()) else {
        println!("skipped: a small file system cannot be mounted here");
        return;
    };
    let rig = Rig::at(temp.path().join("L"));
    fs::create_dir(rig.dir.root()).unwrap();
    drop(rig.open());
    let before = rig.files();
    small.remount("ro");
    let error = rig.try_open().unwrap_err();
    assert_eq!(error.outcome(), Outcome::Error(Error::Disk), "{error}");
    assert!(error.to_string().contains(".lock"), "{error}");
    assert_eq!(
        read_state(&rig.dir).unwrap().state.tick,
        0,
        "it can be read"
    );
    small.remount("rw");
    assert_eq!(rig.files(), before);
    rig.open().start(rules()).unwrap();
}
