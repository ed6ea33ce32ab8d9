//! What counts as a judgement, and what happens without one.

use crate::support::{World, verdict};
use serde_json::json;

const PASS: &str = r#"{"pass":true,"score":1,"reasons":[],"next_hint":""}"#;

// scenarios: 20
// rows: V-04, V-05, V-06, V-07, V-11
// cases: 22, 24, 25, 26, 27, 28
#[test]
fn an_answer_without_a_verdict_is_asked_for_again_and_never_a_score() {
    let deep = "[".repeat(5_000);
    for said in [
        "",
        "looks good",
        "ok looks good",
        r#"{"pass":"true","score":1}"#,
        r#"{"pass":1,"score":1}"#,
        r#"{"pass":null,"score":1}"#,
        r#"{"pass":true}"#,
        r#"{"pass":true,"score":1.7}"#,
        r#"{"pass":true,"score":-0.1}"#,
        r#"{"pass":true,"score":250}"#,
        r#"{"pass":true,"score":"85/100"}"#,
        r#"{"pass":true,"score":"0.9"}"#,
        r#"{"pass":true,"score":1e400}"#,
        r#"{"pass":true,"score":NaN}"#,
        r#"{"pass":true,"score":1,"pass":false}"#,
        r#"{"pass":true,"score":1,"reasons":"none"}"#,
        r#"{"pass":true,"score":1,"reasons":[1]}"#,
        r#"{"pass":true,"score":1,"next_hint":7}"#,
        r#"{"pass":true,"score":1,"reasons":["cut of"#,
        r#"{'pass': True, "score": 80, "reasons": ["a",],}"#,
        "[1]",
        "{}",
        "null",
        "[]",
        "\"pass\"",
        "I would PASS this if the tests ran.",
        "The password test does not PASS",
        "Of 12 tests 3 fail. Score: 0.25",
        deep.as_str(),
    ] {
        let world = World::plain().with_loop();
        world.says("verify", said);
        let told = world.tick();
        assert_eq!(told["outcome"], "verify_error", "{said}");
        assert_eq!(told["reason"], "unreadable", "{said}");
        assert_eq!(told["iteration"], 0, "{said}");
        assert_eq!(world.roles(), ["implement", "verify", "verify"], "{said}");
        assert_eq!(world.progress()["scores"], json!([]), "{said}");
        assert_eq!(world.phase("t1"), "research", "{said}");
    }
}

// scenarios: 20
// rows: V-07
// cases: 25, 37
#[test]
fn work_without_a_judgement_is_judged_by_the_next_tick_and_not_done_again() {
    let world = World::plain().with_loop();
    world.says_at("verify", 1, verdict(false, 0.4, "mind the gap"));
    world.says("verify", "no idea");
    world.tick();
    let told = world.tick();
    assert_eq!(told["outcome"], "verify_error");
    assert_eq!(
        told["iteration"], 1,
        "the second attempt is held, not spent"
    );

    world.says("verify", verdict(true, 1.0, ""));
    let told = world.tick();
    assert_eq!(told["outcome"], "pass");
    assert_eq!(world.count("implement"), 2);
    assert!(
        world
            .output("tick2-verify-2-prompt.md")
            .contains("could not be read")
    );
    let prompt = world.output("tick3-verify-prompt.md");
    assert_eq!(prompt, "V art=<did it\n> hint=[mind the gap]");
}

// rows: V-07
// cases: 37
#[test]
fn held_work_is_spent_when_the_tree_has_changed() {
    let world = World::plain().with_loop();
    world.says("verify", "no idea");
    assert_eq!(world.tick()["iteration"], 0);
    std::fs::write(world.project().join("work.txt"), "a person was here").unwrap();
    world.says("verify", verdict(false, 0.3, "h"));
    let told = world.tick();
    assert_eq!(told["iteration"], 2);
    assert_eq!(world.count("implement"), 2);
}

// scenarios: 20
// rows: V-02, V-03, V-11
// cases: 19, 21, 31, 32
#[test]
fn a_verdict_is_found_where_a_judge_may_put_it() {
    let thoughts = "a thought\n".repeat(40);
    let pretty =
        "{\n  \"pass\": true,\n  \"score\": 1,\n  \"reasons\": [],\n  \"next_hint\": \"\"\n}\n";
    for said in [
        PASS.to_owned(),
        format!("chatter\nmore chatter\n{PASS}\n\n"),
        format!("{thoughts}{PASS}"),
        pretty.to_owned(),
        format!("here it is:\n```json\n{pretty}```\n"),
        format!("```json\n{PASS}\n```\nThat is all."),
        format!("\u{feff}{PASS}"),
        format!("chatter\r\n{PASS}\r\n"),
        pretty.replace('\n', "\r\n"),
        format!("\u{1b}[0m{PASS}"),
        r#"{"pass":true,"score":1,"reasons":["```rust fn a(){} ```"]}"#.to_owned(),
        r#"{"pass":true,"score":1,"next_hint":null,"confidence":"high"}"#.to_owned(),
    ] {
        let world = World::plain().with_loop();
        world.says("verify", &said);
        assert_eq!(world.tick()["outcome"], "pass", "{said}");
        assert_eq!(
            world.roles(),
            ["implement", "verify", "orchestrate"],
            "{said}"
        );
    }
}

// rows: V-03
#[test]
fn verdicts_that_disagree_are_none() {
    let world = World::plain().with_loop();
    let fail = PASS.replace("true", "false");
    world.says(
        "verify",
        format!("either\n```\n{PASS}\n```\nor\n```\n{fail}\n```\nwho knows"),
    );
    let told = world.tick();
    assert_eq!(told["outcome"], "verify_error");
    assert_eq!(told["reason"], "conflicting");
}

// scenarios: 20
// rows: V-08, U-16
#[test]
fn a_pass_with_a_low_score_is_for_a_person() {
    let world = World::plain().with_loop();
    world.says("verify", verdict(true, 0.4, ""));
    let told = world.tick();
    assert_eq!(told["outcome"], "human_intervention");
    assert_eq!(told["reason"], "low_score");
    assert_eq!(told["brake"], json!(null));
    assert_eq!(world.phase("t1"), "research");
    assert_eq!(world.run(["tick", "L", "--exit-code"]).code, 9);
}

// cases: 29
#[test]
fn a_judges_failure_is_no_score_and_does_not_move_the_plateau() {
    let world = World::plain().with_loop();
    for (n, score) in [(1, 0.60), (2, 0.65), (5, 0.66)] {
        world.says_at("verify", n, verdict(false, score, "h"));
    }
    world.says("verify", "crash");
    for _ in 0..4 {
        world.tick();
    }
    assert_eq!(world.progress()["scores"], json!([0.60, 0.65, 0.66]));
    assert_eq!(world.state()["status"], "active");
}

// rows: V-06, V-10
#[test]
fn a_verdict_is_kept_with_the_judges_own_keys() {
    let world = World::plain().with_loop();
    let said =
        json!({"pass": false, "score": 0.5, "reasons": ["r"], "next_hint": "h", "mood": [1]});
    world.says("verify", said.to_string());
    assert_eq!(world.tick()["verdict"], said);
    assert_eq!(world.state()["last_verdict"]["verdict"], said);
}

// cases: 104
#[test]
fn a_goal_that_is_blocked_twice_in_a_row_waits_for_a_person() {
    let said = json!({"pass": false, "score": 0, "blocked": "no API key"}).to_string();
    let world = World::plain().with_loop();
    world.says("verify", said);
    let told = world.tick();
    assert_eq!(told["outcome"], "blocked");
    assert_eq!(told["reason"], "no API key");
    assert_eq!(told["iteration"], 1);
    let told = world.tick();
    assert_eq!(told["outcome"], "human_intervention");
    assert_eq!(told["reason"], "blocked");
    assert!(
        told["why"].as_str().unwrap().contains("no API key"),
        "{told}"
    );
    assert_eq!(world.tick()["skip_reason"], "human_intervention");
    assert_eq!(world.count("implement"), 2);
}

// cases: 104
#[test]
fn an_implementer_may_say_that_it_is_blocked_or_that_nothing_needs_doing() {
    let world = World::plain().with_loop();
    world.says("implement", "I tried.\n{\"blocked\": \"no API key\"}\n");
    let told = world.tick();
    assert_eq!(told["outcome"], "blocked");
    assert_eq!(world.roles(), ["implement"], "it is not judged");
    assert_eq!(world.tick()["reason"], "blocked");

    let world = World::plain().with_loop();
    world.role("implement", "");
    world.says("implement", "{\"no_work\": \"done before\"}\n");
    world.says("verify", verdict(true, 1.0, ""));
    assert_eq!(
        world.tick()["outcome"],
        "pass",
        "it is judged like any other claim"
    );
}
