//! What the schedulers are told, byte by byte, and what their own tools make of it.

use super::systemd::{service, timer as timer_unit};
use super::*;
use loop_core::config::Cron;
use loop_core::schedule::{CronTimes, Fires};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

fn hourly() -> Timer {
    let project = "/home/ada/my app";
    Timer {
        unit: unit_name(Path::new(project), "improve"),
        loop_name: "improve".to_owned(),
        project: project.to_owned(),
        binary: "/usr/local/bin/loop".to_owned(),
        log: format!("{project}/.automaton/loops/improve/.schedule.log"),
        environment: vec![
            ("PATH", "/home/ada/.local/bin:/usr/bin:/bin".to_owned()),
            ("AUTOMATON_HOME", "/srv/50% \"$x\" & <y>".to_owned()),
        ],
        fires: Fires::Every(Duration::from_secs(3_600)),
        zone: zone::local(),
        window: None,
        now: "2026-11-30T12:00:00Z".parse().unwrap(),
    }
}

fn at(text: &str) -> Fires {
    Fires::At(CronTimes::of(&text.parse::<Cron>().unwrap()))
}

fn weekdays() -> Timer {
    Timer {
        fires: at("*/30 6 * * 1-5"),
        ..hourly()
    }
}

/// A machine of which nothing is known but the user's home.
fn host(home: &Path) -> Host {
    Host {
        units: Some(home.join(".config/systemd/user")),
        agents: Some(home.join("Library/LaunchAgents")),
        crontab: None,
        user_manager: false,
        lingers: false,
    }
}

// rows: C-07, U-31
// cases: 141, 143, 144
#[test]
fn a_timer_is_written_as_it_always_was() {
    let berlin = Timer {
        zone: zone::find("Europe/Berlin").unwrap(),
        ..weekdays()
    };
    let crontab = crontab::block(&hourly().unit, &cron_line(&hourly()).unwrap());
    for (written, golden) in [
        (
            service(&hourly()).unwrap(),
            include_str!("golden/tick.service"),
        ),
        (timer_unit(&hourly()), include_str!("golden/interval.timer")),
        (timer_unit(&berlin), include_str!("golden/calendar.timer")),
        (
            String::from_utf8(crontab).unwrap(),
            include_str!("golden/crontab"),
        ),
        (
            launchd::agent(&hourly()).unwrap(),
            include_str!("golden/interval.plist"),
        ),
        (
            launchd::agent(&weekdays()).unwrap(),
            include_str!("golden/calendar.plist"),
        ),
    ] {
        assert_eq!(written, golden);
    }
}

// rows: C-09
#[test]
fn a_second_installation_changes_nothing() {
    let home = tempfile::tempdir().unwrap();
    let host = host(home.path());
    for backend in [Backend::Systemd, Backend::Launchd] {
        let unit = hourly().unit;
        let standing = |timer: &Timer| status(backend, Ok(timer), &unit, &host).unwrap().standing;
        assert_eq!(standing(&hourly()), Standing::Absent);
        let first = plan(backend, &hourly(), &host).unwrap();
        assert!(first.iter().all(Piece::changes));
        apply(&first).unwrap();
        let again = plan(backend, &hourly(), &host).unwrap();
        assert!(!again.iter().any(Piece::changes));
        assert_eq!(standing(&hourly()), Standing::Current);
        assert_eq!(standing(&weekdays()), Standing::Stale);
        let moved = Timer {
            binary: "/opt/loop".to_owned(),
            ..hourly()
        };
        assert_eq!(standing(&moved), Standing::Stale);
        apply(&removal(backend, &unit, &host).unwrap()).unwrap();
        assert_eq!(removal(backend, &unit, &host).unwrap(), []);
        assert_eq!(standing(&hourly()), Standing::Absent);
    }
    let left = fs::read_dir(home.path().join(".config/systemd/user")).unwrap();
    assert_eq!(left.count(), 0);
}

#[test]
fn what_somebody_else_has_put_there_stays() {
    let home = tempfile::tempdir().unwrap();
    let host = host(home.path());
    let unit = hourly().unit;
    let path = host.units.clone().unwrap().join(format!("{unit}.timer"));
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, "[Timer]\nOnCalendar=daily\n").unwrap();
    for done in [
        plan(Backend::Systemd, &hourly(), &host).map(drop),
        removal(Backend::Systemd, &unit, &host).map(drop),
    ] {
        assert!(
            matches!(done, Err(InstallError::NotOurs { .. })),
            "{done:?}"
        );
    }
    fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
    let done = plan(Backend::Systemd, &hourly(), &host);
    assert!(
        matches!(done, Err(InstallError::NotOurs { .. })),
        "{done:?}"
    );
}

#[test]
fn a_scheduler_says_what_it_cannot_keep() {
    let other = if zone::local().name().contains("Tokyo") {
        "Asia/Kolkata"
    } else {
        "Asia/Tokyo"
    };
    let abroad = Timer {
        zone: zone::find(other).unwrap(),
        ..weekdays()
    };
    let quotes = Timer {
        binary: "/it's/loop".to_owned(),
        ..hourly()
    };
    let backslash = Timer {
        project: "/a\\b".to_owned(),
        ..hourly()
    };
    let long = Timer {
        project: format!("/{}", "x".repeat(900)),
        ..hourly()
    };
    let often = Timer {
        fires: at("*/2 1-23 1-15 * *"),
        ..hourly()
    };
    let host = Host {
        crontab: Some("/bin/false".into()),
        ..host(Path::new("/nowhere"))
    };
    for (backend, timer, said) in [
        (Backend::Cron, &abroad, other),
        (Backend::Launchd, &abroad, other),
        (Backend::Systemd, &quotes, "quotes or backslashes"),
        (Backend::Cron, &backslash, "backslash in the project's path"),
        (Backend::Cron, &long, "cron takes 998"),
        (Backend::Launchd, &often, "10350 entries"),
    ] {
        let refused = plan(backend, timer, &host).unwrap_err();
        assert!(matches!(refused, InstallError::Timer(_)), "{refused:?}");
        assert!(refused.to_string().contains(said), "{refused}");
    }
    let nowhere = Host {
        units: None,
        agents: None,
        crontab: None,
        ..host
    };
    for backend in Backend::ALL {
        assert!(plan(backend, &hourly(), &nowhere).is_err());
        assert_eq!(removal(backend, "x", &nowhere).unwrap(), []);
    }
}

// cases: 139, 147
#[test]
fn when_it_fires_next_depends_on_who_keeps_it() {
    let next = |timer: &Timer, backend| timer.next_fire(backend).map(|time| time.to_string());
    for backend in [Backend::Systemd, Backend::Launchd] {
        assert_eq!(
            next(&hourly(), backend),
            None,
            "{backend} counts from its own start"
        );
    }
    let utc = Timer {
        fires: at("30 6 * * *"),
        zone: zone::find("UTC").unwrap(),
        ..hourly()
    };
    for backend in Backend::ALL {
        assert_eq!(next(&utc, backend).unwrap(), "2026-12-01T06:30:00.000Z");
    }
    let minutely = Timer {
        fires: Fires::Every(Duration::from_secs(60)),
        ..hourly()
    };
    assert_eq!(
        next(&minutely, Backend::Cron).unwrap(),
        "2026-11-30T12:01:00.000Z"
    );
    let never = Timer {
        fires: Fires::Every(Duration::from_secs(61)),
        ..hourly()
    };
    assert_eq!(next(&never, Backend::Cron), None);
}

/// Runs a tool of systemd's with a home of its own; `None`, and a word about it,
/// where it is not installed.
fn analyze(folder: &Path, args: &[&str]) -> Option<bool> {
    let done = Command::new("systemd-analyze")
        .args(args)
        .env("XDG_RUNTIME_DIR", folder)
        .env("HOME", folder)
        .output();
    match done {
        Ok(done) => {
            let said = String::from_utf8_lossy(&done.stderr).into_owned();
            println!("{args:?}: {said}");
            Some(done.status.success() && said.is_empty())
        }
        Err(error) => {
            println!("skipped: systemd-analyze: {error}");
            None
        }
    }
}

/// Makes a program in a folder with an awkward name.
fn awkward(folder: &TempDir) -> PathBuf {
    let bin = folder.path().join("a $HOME %h üb");
    fs::create_dir(&bin).unwrap();
    let binary = bin.join("loop");
    fs::write(&binary, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&binary, fs::Permissions::from_mode(0o755)).unwrap();
    binary
}

// rows: C-07, U-31
#[test]
fn systemd_reads_the_units_as_they_are_meant() {
    let folder = tempfile::tempdir().unwrap();
    let binary = awkward(&folder);
    let host = host(folder.path());
    for fires in [hourly().fires, at("15 4 13 */2 5")] {
        let timer = Timer {
            binary: binary.to_str().unwrap().to_owned(),
            project: "/srv/\"q\" \\ 'it' $PATH %u".to_owned(),
            fires,
            zone: zone::find("Europe/Berlin").unwrap(),
            ..hourly()
        };
        apply(&plan(Backend::Systemd, &timer, &host).unwrap()).unwrap();
        let unit = host.units.clone().unwrap().join(&timer.unit);
        let unit = unit.to_str().unwrap();
        for kind in ["service", "timer"] {
            let file = format!("{unit}.{kind}");
            let good = analyze(folder.path(), &["verify", "--user", &file]);
            assert_ne!(good, Some(false), "{file}");
        }
    }
    // The tool would tell.
    let broken = folder.path().join("broken.service");
    fs::write(&broken, "[Service]\nExecStart=relative\n").unwrap();
    let good = analyze(
        folder.path(),
        &["verify", "--user", broken.to_str().unwrap()],
    );
    assert_ne!(good, Some(true));
}

// rows: C-07
#[test]
fn systemd_reads_the_times_as_they_are_meant() {
    let folder = tempfile::tempdir().unwrap();
    let berlin = zone::find("Europe/Berlin").unwrap();
    for text in [
        "* * * * *",
        "*/7 2-4 1,15 */5 *",
        "0 0 * * 0-7",
        "5/20 23 31 12 6",
    ] {
        let timer = Timer {
            fires: at(text),
            zone: berlin.clone(),
            ..hourly()
        };
        let unit = timer_unit(&timer);
        let events = unit
            .lines()
            .filter_map(|line| line.strip_prefix("OnCalendar="));
        for event in events {
            let good = analyze(folder.path(), &["calendar", event]);
            assert_ne!(good, Some(false), "{text}: {event}");
        }
    }
}
