//! Tasks that are put aside, so that the next one is worked on (decision D-18).

use super::{ends, read_backlog, with_backlog};
use crate::support::{World, verdict};
use serde_json::{Value, json};
use std::fs;

const TWO: &str = "- [ ] **first**\n- [ ] **second**\n";
/// Changes something for every task but the first.
const BUT_FIRST: &str = "read -r task <\"$1\"; [ \"$task\" = first ] || echo \"$n\" >>work.txt";

fn parking(world: World, change: impl FnOnce(&mut Value)) -> World {
    with_backlog(world, TWO, |config| {
        config["brakes"]["on_trip"] = json!("park");
        change(config);
    })
}

/// Makes everything go well from here on.
fn mend(world: &World) {
    world.role("implement", "echo \"$n\" >>work.txt");
    for role in ["implement", "verify", "orchestrate"] {
        fs::write(world.rec(&format!("{role}.rc")), "0\n").unwrap();
    }
    world.role("orchestrate", "");
    fs::write(world.rec("red"), "").unwrap();
    world.says("implement", "did it\n");
    world.says("verify", verdict(true, 1.0, ""));
}

// rows: B-14, C-10
// cases: 9
#[test]
fn a_task_that_fails_again_and_again_is_put_aside_and_the_next_is_picked() {
    let world = parking(World::plain(), |config| {
        config["brakes"]["max_iterations"] = json!(2);
    });
    world.says_at("verify", 1, verdict(false, 0.2, "h1"));
    world.says_at("verify", 2, verdict(false, 0.3, "h2"));
    ends(&world.tick(), "fail", "verdict", Some("first"));
    let run = world.run(["tick", "L", "--json", "--exit-code"]).rc(11);
    ends(&run.json(), "parked", "max_iterations", Some("first"));
    ends(&world.tick(), "pass", "", Some("second"));
    let told = world.tick();
    ends(&told, "skipped", "no_work", None);
    assert!(
        told["why"]
            .as_str()
            .unwrap()
            .contains("1 task is put aside"),
        "{told:#}"
    );
    assert!(
        told["do"].as_str().unwrap().contains("loop show L"),
        "{told:#}"
    );
    assert_eq!(world.count("implement"), 3);
    assert_eq!(read_backlog(&world), "- [ ] **first**\n- [x] **second**\n");

    let listed = world.run(["list", "--json"]).rc(0).json();
    let row = &listed["loops"][0];
    let why = "all 2 attempts are spent; the judge gave 0.3";
    let parked = json!([{"task": "first", "reason": "max_iterations", "why": why}]);
    assert_eq!(row["parked"], parked);
    assert_eq!(row["status"], "active");
    let said = world.run(["tick", "L"]).rc(0).out;
    assert!(
        said.contains("do: see what was put aside: loop show L"),
        "{said}"
    );
    let listed = world.run(["list"]).rc(0).out;
    assert!(listed.contains("1 put aside"), "{listed}");
}

// rows: C-13
// cases: 9
#[test]
fn only_what_was_put_aside_is_taken_back() {
    let world = parking(World::plain(), |config| {
        config["brakes"]["max_iterations"] = json!(1);
    });
    world.says_at("verify", 1, verdict(false, 0.2, "h1"));
    ends(&world.tick(), "parked", "max_iterations", Some("first"));
    let run = world.run(["approve", "L"]).rc(1);
    assert!(run.error().contains("name it: first"), "{run:#?}");
    let run = world.run(["approve", "L", "second"]).rc(1);
    assert!(run.error().contains("second is not put aside"), "{run:#?}");
    let run = world
        .run(["approve", "L", "first", "--note", "try harder"])
        .rc(0);
    assert!(run.out.contains("first is open again"), "{run:#?}");
    ends(&world.tick(), "pass", "", Some("first"));
    let prompt = world.output("tick2-implement-prompt.md");
    assert!(prompt.starts_with("first\nhint=[]\n"), "{prompt}");
    assert!(
        world.log().contains("note=\"try harder\""),
        "{}",
        world.log()
    );
}

/// One way in which the first task comes to be put aside.
struct Way {
    reason: &'static str,
    /// The loop's limits.
    config: fn(&mut Value),
    agents: fn(&World),
    /// How many ticks it takes.
    ticks: u32,
}

const WAYS: [Way; 11] = [
    Way {
        reason: "max_iterations",
        config: |config| config["brakes"]["max_iterations"] = json!(1),
        agents: |world| world.says("verify", verdict(false, 0.2, "h")),
        ticks: 1,
    },
    Way {
        reason: "score_plateau",
        config: |config| config["brakes"]["score_plateau_window"] = json!(2),
        agents: |world| world.says("verify", verdict(false, 0.2, "h")),
        ticks: 2,
    },
    Way {
        reason: "no_progress",
        config: |config| config["brakes"]["no_progress_window"] = json!(2),
        agents: |world| {
            world.role("implement", BUT_FIRST);
            world.says_at("verify", 1, verdict(false, 0.2, "h"));
            world.says_at("verify", 2, verdict(false, 0.3, "h"));
        },
        ticks: 2,
    },
    Way {
        reason: "low_score",
        config: |_| {},
        agents: |world| world.says("verify", verdict(true, 0.4, "")),
        ticks: 1,
    },
    Way {
        reason: "blocked",
        config: |_| {},
        agents: |world| world.says("implement", r#"{"blocked": "there is no key"}"#),
        ticks: 2,
    },
    Way {
        reason: "escalated",
        config: |config| config["roles"]["orchestrate"] = json!({"prompt": "orch.md"}),
        agents: |world| {
            world.link_loop();
            world.role(
                "orchestrate",
                "loop task transition first --to human_intervention",
            );
        },
        ticks: 1,
    },
    Way {
        reason: "harness_failures",
        config: |config| config["brakes"]["max_harness_failures"] = json!(2),
        agents: |world| world.exits("implement", 1),
        ticks: 2,
    },
    Way {
        reason: "file_scope",
        config: |config| config["blast_radius"]["file_scope"] = json!(["src/", "work.txt"]),
        agents: |world| world.role("implement", "echo \"$n\" >>elsewhere.txt"),
        ticks: 1,
    },
    Way {
        reason: "protected",
        config: |config| config["blast_radius"]["protect"] = json!(["src/"]),
        agents: |world| world.role("implement", "echo \"$n\" >>src/new"),
        ticks: 1,
    },
    Way {
        reason: "gate_green",
        config: |config| {
            let check = "[ ! -e \"$REC/red\" ] || [ -e work.txt ]";
            config["gate"] = json!({"command": ["sh", "-c", check], "must_start_red": true});
            config["blast_radius"]["worktree_for"] = json!("task");
        },
        agents: |_| {},
        ticks: 1,
    },
    Way {
        reason: "approval_required",
        config: |config| config["approval_phases"] = json!(["implement"]),
        agents: |_| {},
        ticks: 1,
    },
];

// rows: B-14, C-13, L-11
// cases: 9
#[test]
fn whatever_a_task_was_put_aside_for_a_person_takes_it_back() {
    for way in WAYS {
        let reason = way.reason;
        let world = parking(World::git(), |config| {
            config["blast_radius"] = json!({"use_worktree": true});
            (way.config)(config);
        });
        (way.agents)(&world);
        for _ in 1..way.ticks {
            assert_ne!(world.tick()["outcome"], "parked", "{reason}");
        }
        ends(&world.tick(), "parked", reason, Some("first"));
        let state = world.state();
        assert_eq!(state["status"], "active", "{reason}");
        assert_eq!(state["parked"], json!({"first": reason}));
        assert!(
            !world.data("tasks/first/.claim").exists(),
            "{reason}: the claim stays"
        );
        let shown = world.shown();
        assert!(shown.contains(&format!("first ({reason}): ")), "{shown}");
        assert!(shown.contains("loop approve L first"), "{shown}");

        mend(&world);
        let gated = reason == "approval_required";
        let (outcome, why) = if gated {
            ("parked", reason)
        } else {
            ("pass", "")
        };
        ends(&world.tick(), outcome, why, Some("second"));
        world.run(["approve", "L", "first"]).rc(0);
        if gated {
            assert_eq!(world.phase("first"), "complete");
            world.run(["task", "approve", "second"]).rc(0);
            assert_eq!(world.state()["parked"], json!({}), "the loop is told");
        } else {
            assert_eq!(world.phase("first"), "implement", "{reason}");
            let told = world.tick();
            ends(&told, "pass", "", Some("first"));
            assert_eq!(told["iteration"], 1, "{reason}: counts start anew");
        }
        ends(&world.tick(), "skipped", "no_work", None);
        assert_eq!(world.state()["parked"], json!({}), "{reason}");
    }
}

// rows: B-14, L-11
#[test]
fn what_is_wrong_with_more_than_a_task_stops_the_loop_all_the_same() {
    let world = parking(World::plain(), |_| {});
    world.says("verify", "no idea\n");
    for _ in 0..2 {
        assert_eq!(world.tick()["outcome"], "verify_error");
    }
    let told = world.tick();
    ends(
        &told,
        "human_intervention",
        "verifier_broken",
        Some("first"),
    );
    assert_eq!(world.state()["parked"], json!({}));
}
