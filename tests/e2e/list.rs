//! `loop list` and `loop show`: where the loops stand.

use crate::support::{World, verdict, wait_for};
use serde_json::{Value, json};
use std::fs;

fn line(out: &str, name: &str) -> String {
    let found = out.lines().find(|line| line.starts_with(name));
    found
        .unwrap_or_else(|| panic!("no {name}: {out}"))
        .to_owned()
}

// rows: C-10, U-30
// cases: 155
#[test]
fn a_line_has_the_trend_of_the_scores_in_what_the_locale_can_show() {
    let world = World::plain().with_loop();
    for (n, score) in [(1, 0.1), (2, 0.4), (3, 0.6)] {
        world.says_at("verify", n, verdict(false, score, "h"));
        world.tick();
    }
    let told = line(&world.run(["list"]).rc(0).out, "L ");
    assert!(
        told.contains("3/10  score 0.6  ▂▄▅  cost unknown"),
        "{told}"
    );
    let mut plain = world.command(["list"]);
    plain.env("LC_ALL", "C");
    let told = world.finish(plain).rc(0).out;
    assert!(told.contains("score 0.6  .~=  cost"), "{told}");
    assert!(told.is_ascii());
}

// rows: C-10
#[test]
fn a_running_loop_says_which_step_and_since_when() {
    let world = World::plain().with_loop();
    world.says("verify", verdict(false, 0.4, "h"));
    world.role(
        "implement",
        "true >\"$REC/started\"; until [ -e \"$REC/go\" ]; do sleep 0.02; done",
    );
    let tick = world.start(["tick", "L"]);
    wait_for(&world.rec("started"));
    let told = line(&world.run(["list"]).rc(0).out, "L ");
    assert!(told.contains("L  running  t1 in research"), "{told}");
    assert!(told.contains("implement since "), "{told}");
    let row = world.run(["list", "--json"]).rc(0).json()["loops"][0].take();
    assert_eq!(row["running"]["step"], "implement");
    assert_eq!(row["running"]["tick"], 1);
    let shown = world.shown();
    assert!(
        shown.contains("why        tick 1 is running: implement"),
        "{shown}"
    );
    assert!(shown.contains("loop log L --follow"), "{shown}");
    fs::write(world.rec("go"), "").unwrap();
    tick.wait().rc(0);
}

// rows: C-10, C-13
#[test]
fn those_that_wait_for_a_person_are_listed_with_why_and_what_to_do() {
    let world = World::plain().with(|config| config["brakes"]["max_iterations"] = 1.into());
    let waiting = |args: &[&str]| world.run([&["list", "--waiting"], args].concat()).rc(0);
    assert_eq!(waiting(&[]).out, "no loop waits for a person\n");
    for name in ["broken", "quiet"] {
        fs::create_dir(world.data(&format!("loops/{name}"))).unwrap();
    }
    fs::write(world.data("loops/broken/loop.json"), "{").unwrap();
    let quiet = json!({"name": "quiet", "roles": {}});
    fs::write(world.data("loops/quiet/loop.json"), quiet.to_string()).unwrap();
    world.says("verify", verdict(false, 0.4, "h"));
    world.tick();

    let out = waiting(&[]).out;
    let told: Vec<_> = out.lines().collect();
    assert_eq!(told[0], "L (max_iterations)", "{out}");
    assert!(
        told[1].starts_with("  why: ") && told[1].contains("attempt"),
        "{out}"
    );
    assert!(
        told[2].starts_with("  do: ") && told[2].ends_with("loop approve L"),
        "{out}"
    );
    assert_eq!(told[3], "broken (broken)", "{out}");
    assert!(told[4].contains("loop.json:1:"), "{out}");
    assert!(!out.contains("quiet"), "{out}");
    let rows = waiting(&["--json"]).json();
    let names: Vec<_> = rows["loops"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| &row["name"])
        .collect();
    assert_eq!(names, ["L", "broken"]);

    let all = world.run(["list"]).rc(0).out;
    assert!(line(&all, "L ").contains("waiting"), "{all}");
    assert!(line(&all, "quiet").contains("active"), "{all}");

    world.run(["approve", "L"]).rc(0);
    world.run(["pause", "quiet"]).rc(0);
    let out = waiting(&[]).out;
    assert!(!out.contains("L ("), "{out}");
    assert!(
        out.contains("quiet (paused)") && out.contains("loop resume quiet"),
        "{out}"
    );
}

// rows: C-10
#[test]
fn show_always_has_one_line_why_and_one_what_to_do() {
    let world = World::plain().with_loop();
    let told = |out: &str, field: &str| {
        let lines = out.lines().filter(|line| line.starts_with(field));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let shown = world.shown();
    assert_eq!(told(&shown, "why "), ["why        no tick was made yet"]);
    assert_eq!(
        told(&shown, "do "),
        ["do         go on with: loop tick L, or loop start L"]
    );
    world.says("verify", verdict(false, 0.4, "h"));
    world.tick();
    assert_eq!(
        told(&world.shown(), "why "),
        ["why        tick 1 ended as fail (verdict)"]
    );
    world.run(["pause", "L"]).rc(0);
    let shown = world.shown();
    assert_eq!(told(&shown, "why "), ["why        a person has paused it"]);
    assert_eq!(
        told(&shown, "do "),
        ["do         go on with: loop resume L"]
    );
    let json = world.run(["show", "L", "--json"]).rc(0).json();
    assert_eq!(json["why"], "a person has paused it");
    assert_eq!(json["do"], "go on with: loop resume L");
    assert_ne!(json["state"], Value::Null);
}
