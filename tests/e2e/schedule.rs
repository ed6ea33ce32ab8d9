//! Timers: what is written, what is left alone, and the window in which a loop works.

use crate::support::{Run, World};
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

/// A crontab(1) that keeps a file.
const CRONTAB: &str = r#"#!/bin/sh
case "$1" in
-l) cat "$REC/crontab" 2>/dev/null || { echo "no crontab for ada" >&2; exit 1; } ;;
-)  if [ -e "$REC/refuse" ]; then echo "bad minute" >&2; exit 1; fi
    cat >"$REC/crontab" ;;
esac
"#;

/// A world with the loop `L` and a schedule.
fn scheduled(schedule: Value) -> World {
    World::plain().with(|config| config["schedule"] = schedule)
}

/// Runs a command with a configuration folder of its own and no user manager.
fn run<I>(world: &World, args: I) -> Run
where
    I: IntoIterator<Item: AsRef<OsStr>>,
{
    let mut command = world.command(args);
    command.env("XDG_CONFIG_HOME", world.root().join("config"));
    command.env("XDG_RUNTIME_DIR", world.root());
    world.finish(command)
}

/// Returns the unit files, sorted.
fn units(world: &World) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(world.root().join("config/systemd/user")) else {
        return Vec::new();
    };
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

fn texts(world: &World) -> Vec<String> {
    let read = |path: &PathBuf| fs::read_to_string(path).unwrap();
    units(world).iter().map(read).collect()
}

fn crontab(world: &World) -> Vec<u8> {
    fs::read(world.rec("crontab")).unwrap()
}

// scenarios: 24
// rows: C-06, C-07, C-09, U-31, D-02
// cases: 141
#[test]
fn a_timer_is_written_and_nothing_is_started() {
    let world = scheduled(json!({"interval_seconds": 3600}));
    let dry = run(&world, ["schedule", "install", "L", "--dry-run"]).rc(0);
    assert!(dry.out.contains("would write"), "{dry:?}");
    assert!(units(&world).is_empty());

    let first = run(&world, ["schedule", "install", "L"]).rc(0);
    let [service, timer] = &texts(&world)[..] else {
        panic!("not two files: {:?}", units(&world));
    };
    let names = units(&world);
    let name = names[1].file_name().unwrap().to_str().unwrap();
    assert!(
        name.starts_with("automaton-proj-") && name.ends_with("-L.timer"),
        "{name}"
    );
    for said in [
        env!("CARGO_BIN_EXE_loop"),
        "tick L --project",
        world.project().to_str().unwrap(),
        &format!("PATH={}/bin:", world.root().display()),
        "KillMode=mixed",
        "Type=oneshot",
    ] {
        assert!(service.contains(said), "{said}: {service}");
    }
    for said in [
        "OnActiveSec=3600s\n",
        "OnUnitActiveSec=3600s\n",
        "WantedBy=timers.target",
    ] {
        assert!(timer.contains(said), "{said}: {timer}");
    }
    for said in [
        format!("systemctl --user enable --now {name}"),
        "loginctl enable-linger".to_owned(),
        "or in a crontab: 0 * * * * ".to_owned(),
    ] {
        assert!(first.out.contains(&said), "{said}: {first:?}");
    }
    assert!(first.err.contains("no user manager"), "{first:?}");
    assert!(first.err.contains("build's folder"), "{first:?}");

    let before = texts(&world);
    let again = run(&world, ["schedule", "install", "L"]).rc(0);
    assert_eq!(again.out.matches("unchanged").count(), 2, "{again:?}");
    assert_eq!(texts(&world), before);
    let told = run(&world, ["schedule", "install", "L", "--json"])
        .rc(0)
        .json();
    assert_eq!(
        (&told["changed"], &told["backend"]),
        (&json!(false), &json!("systemd"))
    );
    assert!(world.calls().is_empty());
}

// scenarios: 24
// rows: C-08
#[test]
fn without_a_schedule_there_is_no_timer() {
    let world = World::plain().with_loop();
    let none = run(&world, ["schedule", "install", "L"]).rc(2);
    assert!(
        none.error().contains("schedule.interval_seconds"),
        "{none:?}"
    );
    for interval in [
        json!(0),
        json!(-1),
        json!("x"),
        json!(1.5),
        json!(31_622_401),
    ] {
        world.configure(|config| config["schedule"] = json!({"interval_seconds": interval}));
        run(&world, ["schedule", "install", "L"]).rc(2);
    }
    for (schedule, said) in [
        (json!({"window": "22:00-06:00"}), "nothing to fire"),
        (
            json!({"cron": "0 0 30 2 *", "timezone": "UTC"}),
            "never fires; mend it",
        ),
        (
            json!({"cron": "0 12 * * *", "timezone": "UTC", "window": "22:00-06:00"}),
            "never fires in schedule.window",
        ),
        (
            json!({"cron": "0 12 * * *", "timezone": "Europe/Atlantis"}),
            "no time zone `Europe/Atlantis`",
        ),
    ] {
        world.configure(|config| config["schedule"] = schedule);
        let refused = run(&world, ["schedule", "install", "L"]).rc(2);
        assert!(refused.error().contains(said), "{refused:?}");
    }
    assert!(
        world
            .run(["validate", "L"])
            .rc(2)
            .error()
            .contains("Europe/Atlantis")
    );
    assert_eq!(
        world.run(["tick", "L", "--json"]).rc(2).json()["reason"],
        "config"
    );
    run(&world, ["schedule", "install", "nosuch"]).rc(1);
    run(&world, ["schedule", "remove", "../L"]).rc(1);
    run(&world, ["schedule", "install", "L", "--backend", "at"]).rc(2);
    assert!(units(&world).is_empty());
}

// rows: U-31
#[test]
fn what_is_in_place_is_compared_with_what_would_be_written() {
    let world = scheduled(json!({"cron": "30 6 * * 1-5", "timezone": "Europe/Berlin"}));
    let show = || {
        run(&world, ["schedule", "show", "L", "--json"])
            .rc(0)
            .json()
    };
    let none = show();
    assert_eq!(
        (&none["timers"], &none["next_fire"]),
        (&json!([]), &Value::Null)
    );
    let listed = || run(&world, ["list", "--json"]).rc(0).json()["loops"][0]["next_fire"].take();
    assert_eq!(listed(), Value::Null);

    run(&world, ["schedule", "install", "L"]).rc(0);
    let shown = show();
    assert_eq!(
        shown["timers"],
        json!([{"backend": "systemd", "standing": "current", "enabled": false, "changes": []}])
    );
    assert!(
        shown["next_fire"]
            .as_str()
            .unwrap()
            .ends_with(":30:00.000Z"),
        "{shown}"
    );
    assert_eq!(listed(), shown["next_fire"]);
    assert_eq!(
        (&shown["zone"], &shown["last_tick"]),
        (&json!("Europe/Berlin"), &Value::Null)
    );

    // A tick by hand changes nothing of when it fires.
    world.says("verify", "{\"pass\": false, \"score\": 0.1}");
    world.tick();
    let later = show();
    assert_eq!(later["next_fire"], shown["next_fire"]);
    assert_eq!(later["last_tick"]["tick"], 1);

    let link = world.root().join("config/systemd/user/timers.target.wants");
    fs::create_dir(&link).unwrap();
    let timer = units(&world)
        .into_iter()
        .find(|path| path.extension() == Some(OsStr::new("timer")));
    let timer = timer.unwrap();
    symlink(&timer, link.join(timer.file_name().unwrap())).unwrap();
    assert_eq!(show()["timers"][0]["enabled"], true);

    world.configure(|config| config["schedule"]["cron"] = json!("45 6 * * 1-5"));
    let stale = &show()["timers"][0];
    assert_eq!(stale["standing"], "stale");
    assert_eq!(
        stale["changes"],
        json!([
            "- OnCalendar=Mon,Tue,Wed,Thu,Fri *-*-* 06:30:00 Europe/Berlin",
            "+ OnCalendar=Mon,Tue,Wed,Thu,Fri *-*-* 06:45:00 Europe/Berlin",
        ])
    );
    let text = run(&world, ["schedule", "show", "L"]).rc(0).out;
    assert!(text.contains("systemd: stale, enabled"), "{text}");
    let changed = run(&world, ["schedule", "install", "L"]).rc(0);
    assert!(
        changed.out.contains("systemctl --user restart"),
        "{changed:?}"
    );
    assert!(changed.out.contains("+ OnCalendar="), "{changed:?}");

    // It goes with its link, although the loop is broken; what is not ours stays.
    fs::write(link.join("other.timer"), "").unwrap();
    world.write_config("{");
    let dry = run(&world, ["schedule", "remove", "L", "--dry-run"]).rc(0);
    assert_eq!(dry.out.matches("would remove").count(), 3, "{dry:?}");
    assert_eq!(units(&world).len(), 3);
    let removed = run(&world, ["schedule", "remove", "L"]).rc(0);
    assert!(
        removed
            .out
            .contains("systemctl --user stop automaton-proj-"),
        "{removed:?}"
    );
    assert_eq!(units(&world), std::slice::from_ref(&link));
    assert_eq!(fs::read_dir(link).unwrap().count(), 1);
    let again = run(&world, ["schedule", "remove", "L"]).rc(0);
    assert!(again.out.contains("L has no timer"), "{again:?}");
}

// rows: U-31
#[test]
fn a_crontab_is_the_users_but_for_one_block() {
    let world = scheduled(json!({"interval_seconds": 900}));
    world.program("crontab", CRONTAB);
    // Where no user manager runs, cron is used.
    let first = run(&world, ["schedule", "install", "L"]).rc(0);
    assert!(first.out.contains("in the crontab"), "{first:?}");
    let alone = String::from_utf8(crontab(&world)).unwrap();
    let lines: Vec<_> = alone.lines().collect();
    assert_eq!(lines.len(), 3, "{alone}");
    assert!(lines[0].starts_with("# BEGIN automaton-proj-"), "{alone}");
    assert!(
        lines[1].starts_with("*/15 * * * * /usr/bin/env PATH="),
        "{alone}"
    );
    assert!(lines[1].contains(" tick L --project "), "{alone}");
    let told = run(&world, ["schedule", "show", "L", "--json"])
        .rc(0)
        .json();
    assert_eq!(told["timers"][0]["standing"], "current");
    assert!(told["next_fire"].is_string(), "{told}");
    run(&world, ["schedule", "remove", "L"]).rc(0);
    assert_eq!(crontab(&world), b"");

    for theirs in [
        &b"SHELL=/bin/fish\n0 5 * * * backup\n"[..],
        b"0 5 * * * backup\r\n0 6 * * * x",
        b"# \xff\xfe\n\n",
    ] {
        fs::write(world.rec("crontab"), theirs).unwrap();
        run(&world, ["schedule", "install", "L"]).rc(0);
        assert_eq!(crontab(&world), [alone.as_bytes(), theirs].concat());
        let again = run(&world, ["schedule", "install", "L"]).rc(0);
        assert!(again.out.contains("unchanged"), "{again:?}");
        run(&world, ["schedule", "remove", "L"]).rc(0);
        assert_eq!(crontab(&world), theirs);
    }

    let theirs = b"0 5 * * * backup\n";
    fs::write(world.rec("crontab"), theirs).unwrap();
    fs::write(world.rec("refuse"), "").unwrap();
    let refused = run(&world, ["schedule", "install", "L"]).rc(1);
    assert!(refused.error().contains("bad minute"), "{refused:?}");
    world.configure(|config| config["schedule"]["interval_seconds"] = json!(5400));
    let refused = run(&world, ["schedule", "install", "L"]).rc(2);
    assert!(
        refused.error().contains("the nearest that it can is 3600"),
        "{refused:?}"
    );
    world.program(
        "crontab",
        "#!/bin/sh\necho you are not allowed >&2\nexit 1\n",
    );
    let refused = run(&world, ["schedule", "install", "L", "--backend", "cron"]).rc(2);
    assert!(refused.error().contains("5400"), "{refused:?}");
    // Who is allowed no crontab can still have units.
    run(&world, ["schedule", "install", "L", "--backend", "systemd"]).rc(0);
    let shown = run(&world, ["schedule", "show", "L"]).rc(0);
    assert!(shown.err.contains("not allowed"), "{shown:?}");
    run(&world, ["schedule", "remove", "L"]).rc(0);
    assert!(units(&world).is_empty());
    assert_eq!(crontab(&world), theirs);
}

// cases: 144
#[test]
fn an_agent_makes_no_timers() {
    let world = scheduled(json!({"interval_seconds": 60}));
    for verb in ["install", "remove"] {
        let mut command = world.command(["schedule", verb, "L"]);
        command.env("XDG_CONFIG_HOME", world.root().join("config"));
        command.env("AUTOMATON_ROLE", "implement");
        assert!(
            world
                .finish(command)
                .rc(3)
                .error()
                .contains("only a person")
        );
    }
    assert!(units(&world).is_empty());
}

/// Returns a window in UTC that opens in `from` hours and closes in `to`.
fn window(from: u64, to: u64) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let hour = now.as_secs() / 3600;
    let clock = |hours: u64| (hour + hours) % 24;
    format!("{:02}:00-{:02}:00", clock(from), clock(to))
}

// rows: L-02, L-03
// cases: 4, 135
#[test]
fn a_loop_works_in_its_window_alone() {
    let world = scheduled(json!({"timezone": "UTC", "window": window(2, 4)}));
    world.says("verify", "{\"pass\": false, \"score\": 0.1}");
    let skipped = world.tick();
    assert_eq!(
        (&skipped["outcome"], &skipped["reason"]),
        (&json!("skipped"), &json!("window"))
    );
    let at = skipped["next"]["at"].as_str().unwrap();
    assert!(at.ends_with(":00:00.000Z"), "{skipped}");
    assert!(skipped["why"].as_str().unwrap().contains(at), "{skipped}");
    world.run(["tick", "L", "--exit-code"]).rc(11);
    assert!(world.calls().is_empty());
    world.configure(|config| config["schedule"]["window"] = json!(window(22, 3)));
    assert_eq!(world.tick()["outcome"], "fail");
}

// cases: 142, 146
#[test]
fn a_timers_tick_says_what_it_does_in_a_log() {
    let world = scheduled(json!({"interval_seconds": 60}));
    world.says("verify", "{\"pass\": false, \"score\": 0.1}");
    let log = world.in_loop(".schedule.log");
    let args = ["tick", "L", "--log", log.to_str().unwrap()];
    for ticks in 1..=2 {
        let quiet = world.run(args).rc(0);
        assert_eq!((quiet.out.as_str(), quiet.err.as_str()), ("", ""));
        let said = fs::read_to_string(&log).unwrap();
        assert_eq!(said.matches("--- 2").count(), ticks, "{said}");
        assert!(said.contains(&format!("L tick {ticks}: fail")), "{said}");
        assert!(!said.contains('\u{1b}'), "{said}");
    }
    // A log that an agent has replaced keeps nothing from ticking.
    fs::remove_file(&log).unwrap();
    symlink(world.root().join("victim"), &log).unwrap();
    let told = world.run(args).rc(0);
    assert!(told.err.contains("no log in"), "{told:?}");
    assert!(told.out.contains("L tick 3"), "{told:?}");
    assert!(!world.root().join("victim").exists());
}

// rows: C-06, C-09
#[test]
fn installations_at_the_same_time_lose_none() {
    let world = World::plain();
    // A crontab that takes its time between what is read and what is written.
    world.program("crontab", &CRONTAB.replace("-)", "-) sleep 0.2;"));
    let names = ["a", "b", "c"];
    for name in names {
        let folder = world.data(&format!("loops/{name}"));
        fs::create_dir_all(&folder).unwrap();
        let config = json!({"name": name, "roles": {}, "schedule": {"interval_seconds": 900}});
        fs::write(folder.join("loop.json"), config.to_string()).unwrap();
    }
    let started = names.map(|name| {
        let args = ["schedule", "install", name, "--backend", "cron"];
        let mut command = world.command(args);
        command.env("XDG_CONFIG_HOME", world.root().join("config"));
        world.launch(command)
    });
    for running in started {
        running.wait().rc(0);
    }
    let text = String::from_utf8(crontab(&world)).unwrap();
    assert_eq!(text.matches("# BEGIN").count(), names.len(), "{text}");
}
