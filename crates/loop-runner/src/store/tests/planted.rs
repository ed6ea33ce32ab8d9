//! Links, pipes and folders that an agent puts where the loop's files are.

use super::rig::{Rig, whole_tick};
use crate::store::read_state;
use loop_core::outcome::{Error, Outcome};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// Puts something in the place of a file; `other` is a file of the user.
type Plant = fn(&Path, &Path);

const PLANTS: [(&str, Plant); 4] = [
    ("link", |at, other| symlink(other, at).unwrap()),
    ("second name", |at, other| fs::hard_link(other, at).unwrap()),
    ("folder", |at, _| fs::create_dir(at).unwrap()),
    ("pipe", |at, _| {
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        let kind = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, at, kind, mode, 0).unwrap();
    }),
];

fn plant(plant: Plant, at: &Path, other: &Path) {
    let _gone = fs::remove_file(at);
    plant(at, other);
}

/// Files in the folder above the loop's, which the engine has no business with.
fn precious(rig: &Rig, content: &[u8]) -> PathBuf {
    let path = rig.dir.root().with_file_name("precious");
    fs::write(&path, content).unwrap();
    path
}

// cases: 109
#[test]
fn nothing_is_written_through_what_stands_in_a_files_place() {
    for (what, how) in PLANTS {
        let files: [fn(&Rig) -> PathBuf; 3] = [
            |rig| rig.dir.lock(),
            |rig| rig.dir.events(),
            |rig| rig.dir.journal(),
        ];
        for file in files {
            let rig = Rig::new();
            whole_tick(&mut rig.open());
            let path = file(&rig);
            // The log itself, so that it would be taken for one.
            let content = fs::read(&path).unwrap();
            let other = precious(&rig, &content);
            plant(how, &path, &other);

            let error = rig.try_open().unwrap_err();
            let at = format!("{what} at {}", path.display());
            assert_eq!(
                error.outcome(),
                Outcome::Error(Error::Disk),
                "{at}: {error}"
            );
            let name = path.display().to_string();
            assert!(error.to_string().contains(&name), "{at}: {error}");
            assert_eq!(fs::read(&other).unwrap(), content, "{at}");
        }
    }
}

#[test]
fn whatever_stands_in_the_place_of_the_cache_is_replaced_or_left() {
    for (what, how) in PLANTS {
        let rig = Rig::new();
        let mut held = rig.open();
        whole_tick(&mut held);
        let state = held.machine().state().clone();
        drop(held);
        let other = precious(&rig, b"keep me");
        plant(how, &rig.dir.cache(), &other);
        assert_eq!(read_state(&rig.dir).unwrap().state, state, "{what}");
        whole_tick(&mut rig.open());
        assert_eq!(fs::read(&other).unwrap(), b"keep me", "{what}");
        assert_eq!(read_state(&rig.dir).unwrap().state.tick, 2, "{what}");
    }
}

#[test]
fn a_log_is_put_aside_through_no_link() {
    for (what, how) in PLANTS {
        let rig = Rig::new();
        let mut held = rig.open();
        held.grown = 1;
        let other = precious(&rig, b"keep me");
        plant(how, &rig.dir.next_events(), &other);
        whole_tick(&mut held);
        assert_eq!(fs::read(&other).unwrap(), b"keep me", "{what}");
        assert_eq!(read_state(&rig.dir).unwrap().state.tick, 1, "{what}");
    }
}

#[test]
fn what_stands_where_a_torn_end_would_be_kept_is_told_of_by_nobody() {
    for (what, how) in &PLANTS[2..] {
        let rig = Rig::new();
        whole_tick(&mut rig.open());
        let seq = read_state(&rig.dir).unwrap().seq;
        let other = precious(&rig, b"keep me");
        plant(*how, &rig.dir.torn(seq + 1), &other);
        drop(rig.open());
        assert_eq!(read_state(&rig.dir).unwrap().seq, seq, "{what}");
    }
}

#[test]
fn readers_wait_for_no_pipe_and_follow_no_link() {
    for (what, how) in PLANTS {
        if what == "second name" {
            continue;
        }
        let rig = Rig::new();
        whole_tick(&mut rig.open());
        let other = precious(&rig, &rig.log());
        fs::remove_file(rig.dir.cache()).unwrap();
        plant(how, &rig.dir.events(), &other);
        assert!(read_state(&rig.dir).is_err(), "{what}");
        assert!(crate::store::records(&rig.dir).is_err(), "{what}");
    }
}
