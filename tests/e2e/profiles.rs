//! Harness profiles: how a prompt is handed over, and what is made of an output.

use crate::support::{World, verdict};
use serde_json::{Value, json};
use std::fs;

/// A world whose loop is driven by the harness `harness`, and judged by `rec`.
pub(crate) fn driven_by(harness: Value) -> World {
    let world = World::plain().with(|config| {
        config["harness"] = harness;
        for role in ["verify", "orchestrate"] {
            config["roles"][role]["harness"] = json!({"command": ["rec", "{prompt}"]});
        }
        config["acceptance_criteria"] = json!("it works");
    });
    for name in ["claude", "codex", "gemini"] {
        world.agent(name);
    }
    world.says("verify", verdict(true, 1.0, ""));
    world
}

/// What one call of pi prints that says `text`.
pub(crate) fn pi_says(text: &str, usd: f64) -> String {
    let message = json!({
        "role": "assistant",
        "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": text}],
        "usage": {"input": 800, "cacheRead": 200, "cacheWrite": 0, "output": 50,
            "cost": {"total": usd}},
        "stopReason": "stop",
    });
    let session = json!({"type": "session", "id": "s-1"});
    let end = json!({"type": "message_end", "message": message});
    format!("{session}\n{end}\n")
}

/// The envelope in which claude answers.
pub(crate) fn claude_says(result: &str, is_error: bool, status: Option<u16>) -> String {
    let envelope = json!({
        "type": "result", "subtype": "success", "is_error": is_error, "api_error_status": status,
        "result": result, "session_id": "c-1", "total_cost_usd": 0.012_720_000_000_000_002_f64,
        "modelUsage": {"m": {"inputTokens": 2400, "outputTokens": 150,
            "cacheReadInputTokens": 600, "cacheCreationInputTokens": 0}},
    });
    format!("{envelope}\n")
}

// rows: H-20, Q-45
#[test]
fn a_profile_reads_the_final_text_and_the_bill_and_gets_the_prompt_on_standard_input() {
    let world = driven_by(json!("pi"));
    world.role("implement", "cat >\"$REC/stdin\"; echo x >>work.txt");
    world.says("implement", pi_says("wrote it", 0.003_25));
    let told = world.tick();
    assert_eq!(told["outcome"], "pass", "{told:#}");
    assert_eq!(world.output("tick1-implement-output.md"), "wrote it");
    let prompt = world.output("tick1-implement-prompt.md");
    assert_eq!(fs::read_to_string(world.rec("stdin")).unwrap(), prompt);
    let calls = world.calls();
    assert_eq!(calls[0].argv, ["pi", "--mode", "json", "-p"]);
    // The judge has no profile: what it costs is unknown, and so is the sum.
    assert_eq!(told["cost_source"], "unknown");
    let state = world.state();
    assert_eq!(state["spent"]["by_role"]["implement"]["usd"], 0.003_25);
    assert_eq!(state["spent"]["tokens"]["input"], 1000);
    let log = world.log();
    assert!(
        log.contains("implement used cost_usd=0.00325 tokens=1050 harness=pi"),
        "{log}"
    );
    assert!(
        world
            .shown()
            .contains("implement: 1 call, $0.00325 (reported), 1050 tokens")
    );
}

// cases: 34, 44
#[test]
fn talk_about_limits_in_a_call_that_went_well_is_only_talk() {
    for harness in ["pi", "claude", "codex"] {
        let text = "429 Too Many Requests: rate limit reached. I added handling of HTTP 429.\n\
                    Not logged in. You've hit your usage limit. try again at 5:33 PM.";
        let world = driven_by(json!(harness));
        world.says(
            "implement",
            match harness {
                "pi" => pi_says(text, 0.1),
                "claude" => claude_says(text, false, None),
                _ => format!(
                    "{}\n{}\n",
                    json!({"type": "item.completed", "item": {"type": "agent_message", "text": text}}),
                    json!({"type": "turn.completed", "usage": {"input_tokens": 9, "output_tokens": 1}}),
                ),
            },
        );
        world.role(
            "implement",
            "echo 'error: 429 rate limit reached' >&2; echo x >>work.txt",
        );
        assert_eq!(world.tick()["outcome"], "pass", "{harness}");
        assert_eq!(world.output("tick1-implement-output.md"), text);
    }
}

// cases: 38, 39, 40
#[test]
fn an_error_in_a_success_envelope_is_a_fault_is_paid_for_by_nobody_and_no_hint() {
    let world = driven_by(json!("claude"));
    world.says(
        "implement",
        claude_says("API Error: 401 Invalid API key", true, Some(401)),
    );
    world.role("implement", "true");
    let told = world.tick();
    assert_eq!(
        (&told["outcome"], &told["reason"]),
        (&json!("environment"), &json!("auth"))
    );
    assert_eq!(told["iteration"], 0);
    let why = told["why"].as_str().unwrap();
    assert_eq!(
        why,
        "`claude` is not logged in: API Error: 401 Invalid API key"
    );
    assert_eq!(told["do"], "log the harness in");
    assert_eq!(world.progress()["hint"], "");
    assert_eq!(world.output("tick1-implement-output.md"), "");
    let told = world.tick();
    assert_eq!(told["outcome"], "human_intervention");
    assert_eq!(told["reason"], "environment");
    assert_eq!(told["do"], "log the harness in, then: loop approve L");
    assert!(
        world
            .shown()
            .contains("log the harness in, then: loop approve L")
    );
    assert_eq!(world.count("verify"), 0);
}

// cases: 36, 43
#[test]
fn a_quota_is_waited_for_until_the_time_that_it_names() {
    let world = driven_by(json!("codex"));
    let message = "You\u{2019}ve hit your usage limit. Upgrade to Pro or try again in 14 hours.";
    let failed = json!({"type": "turn.failed", "error": {"message": message}});
    world.says("implement", format!("{failed}\n"));
    world.exits("implement", 1);
    world.role("implement", "true");
    let told = world.tick();
    assert_eq!(
        (&told["outcome"], &told["reason"]),
        (&json!("environment"), &json!("quota"))
    );
    let at = told["next"]["at"].as_str().unwrap().to_owned();
    assert!(
        told["why"]
            .as_str()
            .unwrap()
            .ends_with(&format!("it says until {at}")),
        "{told}"
    );
    let told = world.tick();
    assert_eq!(
        (&told["outcome"], &told["reason"]),
        (&json!("skipped"), &json!("not_before"))
    );
    assert_eq!(world.count("implement"), 1);
}

// rows: H-20
// cases: 43
#[test]
fn another_harness_takes_the_place_of_one_that_is_out_of_service() {
    let world = driven_by(json!(["claude", "pi"]));
    world.says_at(
        "implement",
        1,
        claude_says("Claude AI usage limit reached|4102444800", true, Some(429)),
    );
    world.says("implement", pi_says("wrote it", 0.01));
    let told = world.tick();
    assert_eq!(told["outcome"], "pass", "{told:#}");
    let agents = |world: &World| -> Vec<String> {
        let calls = world.calls();
        let implement = calls.iter().filter(|call| call.role == "implement");
        implement.map(|call| call.arg(0).to_owned()).collect()
    };
    assert_eq!(agents(&world), ["claude", "pi"]);
    assert_eq!(world.output("tick1-implement-2-output.md"), "wrote it");
    let log = world.log();
    assert!(
        log.contains("WARNING implement: `claude` has used up its quota"),
        "{log}"
    );
    // The second task does not begin with the one that is out.
    world.task("t2", "BRIEF");
    world.run(["set-task", "L", "t2"]).rc(0);
    assert_eq!(world.tick()["outcome"], "pass");
    assert_eq!(agents(&world), ["claude", "pi", "pi"]);
}

// cases: 10, 135
#[test]
fn a_call_that_reaches_a_cap_in_its_middle_is_ended_there() {
    for (cap, value, halt) in [
        ("max_cost_usd", json!(0.05), "max_cost"),
        ("max_tokens", json!(2000), "max_tokens"),
    ] {
        let world = driven_by(json!("pi"));
        world.configure(|config| {
            config["brakes"][cap] = value.clone();
            // The judge's too: a cap needs every call to tell what it uses.
            config["roles"] = json!({"implement": {"prompt": "impl.md"}});
        });
        let turn = pi_says("one more turn", 0.03);
        fs::write(world.rec("turn"), turn).unwrap();
        world.role(
            "implement",
            "echo x >>work.txt; while :; do cat \"$REC/turn\"; sleep 0.3; done",
        );
        let told = world.tick();
        assert_eq!(told["outcome"], "human_intervention", "{told:#}");
        assert_eq!(told["reason"], halt);
        assert_eq!(told["brake"], halt);
        let why = told["why"].as_str().unwrap();
        assert!(why.starts_with("implement was ended at the "), "{why}");
        assert_eq!(world.count("verify"), 0);
        assert!(!world.progress()["attempts"].as_array().unwrap().is_empty());
    }
}

// cases: 52
#[test]
fn a_harness_that_has_said_its_last_word_has_finished() {
    let world = driven_by(json!({"profile": "claude", "idle_timeout_seconds": 1}));
    fs::write(world.rec("last"), claude_says("done", false, None)).unwrap();
    world.role(
        "implement",
        "echo x >>work.txt; cat \"$REC/last\"; sleep 3600",
    );
    let told = world.tick();
    assert_eq!(told["outcome"], "pass", "{told:#}");
    assert_eq!(world.output("tick1-implement-output.md"), "done");
}

// cases: 36, 52
#[test]
fn a_harness_that_tries_again_without_end_is_ended_and_told_as_what_it_is() {
    let world = driven_by(json!({"profile": "codex", "idle_timeout_seconds": 1}));
    let message = "Reconnecting... waiting for network (Connection failed: error sending request)";
    let again = json!({"type": "error", "message": message});
    fs::write(world.rec("again"), format!("{again}\n")).unwrap();
    world.role(
        "implement",
        "while :; do cat \"$REC/again\"; sleep 0.1; done",
    );
    let told = world.tick();
    assert_eq!(
        (&told["outcome"], &told["reason"], &told["iteration"]),
        (&json!("environment"), &json!("offline"), &json!(0)),
        "{told:#}"
    );
}

// rows: H-33, H-36
// cases: 50
#[test]
fn a_long_prompt_goes_by_standard_input_and_a_harness_need_not_read_it() {
    let long = "x".repeat(300 * 1024);
    for reads in [true, false] {
        let world = driven_by(json!("pi"));
        fs::write(world.in_loop("impl.md"), &long).unwrap();
        let script = if reads {
            "cat >\"$REC/stdin\"; echo x >>work.txt"
        } else {
            "echo x >>work.txt"
        };
        world.role("implement", script);
        world.says("implement", pi_says("wrote it", 0.01));
        assert_eq!(world.tick()["outcome"], "pass", "reads: {reads}");
        if reads {
            assert_eq!(fs::read_to_string(world.rec("stdin")).unwrap(), long);
        }
    }
    // The same through an argument is refused before anything is spent.
    let world = driven_by(json!({"profile": "generic", "command": ["rec", "{prompt_content}"]}));
    fs::write(world.in_loop("impl.md"), &long).unwrap();
    let told = world.tick();
    assert_eq!(told["reason"], "prompt_too_large");
    assert_eq!(told["iteration"], 0);
    assert!(
        told["why"]
            .as_str()
            .unwrap()
            .contains("takes 131000 in an argument"),
        "{told}"
    );
    assert!(world.calls().is_empty());
}

// rows: H-18
#[test]
fn a_profile_of_ones_own_needs_no_code() {
    let world = driven_by(json!("generic"));
    world.agent("my-agent");
    world.configure(|config| config["harness"] = json!("mine"));
    let folder = world.home().join(".automaton/templates/harnesses");
    fs::create_dir_all(&folder).unwrap();
    let profile = json!({
        "v": 1, "name": "mine", "command": ["my-agent", "--file", "{prompt}"], "prompt_via": "file",
        "output": {
            "format": "json",
            "final": {"path": "answer"},
            "error": [{"where": {"ok": false}, "path": "why"}],
            "cost": {"path": "usd"},
        },
        "faults": [{"class": "rate_limit", "match": "^slow down"}],
        "env": {"set": {"MINE": "1"}},
    });
    let path = folder.join("mine.json");
    fs::write(&path, profile.to_string()).unwrap();
    world.role("implement", "echo \"$MINE\" >>work.txt");
    world.says("implement", r#"{"ok": true, "answer": "yes", "usd": 0.5}"#);
    assert_eq!(world.tick()["outcome"], "pass");
    assert_eq!(world.output("tick1-implement-output.md"), "yes");
    assert_eq!(
        fs::read_to_string(world.project().join("work.txt")).unwrap(),
        "1\n"
    );
    let listed = world.run(["harness", "list", "--json"]).rc(0).json();
    let mine = listed["profiles"].as_array().unwrap().iter();
    let mine: Vec<_> = mine.filter(|profile| profile["name"] == "mine").collect();
    assert_eq!(mine[0]["program"], "my-agent");
    assert_eq!(mine[0]["file"], path.to_str().unwrap());

    // One that is broken is told with its place, and nothing is started by guess.
    fs::write(&path, r#"{"v": 1, "name": "mine", "comand": ["x"]}"#).unwrap();
    let error = world.run(["tick", "L"]).rc(2).error().to_owned();
    assert!(
        error.contains("mine.json:1:26: comand: unknown key"),
        "{error}"
    );
}

// rows: C-04, H-39
#[test]
fn a_harness_is_chosen_by_name_when_a_loop_is_made() {
    let world = World::git();
    let made = [
        "create",
        "fix",
        "--from-template",
        "task",
        "--brief",
        "b",
        "--harness",
    ];
    let error = world
        .run(made.into_iter().chain(["cluade"]))
        .rc(2)
        .error()
        .to_owned();
    assert!(
        error.contains("there is no harness profile `cluade`; there are aider, "),
        "{error}"
    );
    assert!(!world.data("loops/fix").exists());
    world.run(made.into_iter().chain(["codex"])).rc(0);
    let text = fs::read_to_string(world.data("loops/fix/loop.json")).unwrap();
    let config: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(config["harness"], "codex");
    let shown = world.run(["config", "fix"]).rc(0).out;
    let words: Vec<_> = shown.split_whitespace().collect();
    let shown = words.join(" ");
    assert!(
        shown.contains(r#"harness.command ["codex", "exec", "--json""#),
        "{shown}"
    );
    assert!(
        shown.contains("harness.prompt_via stdin default"),
        "{shown}"
    );
    let both = ["--harness", "pi", "--harness-command", "[\"x\"]"];
    world.run(made.into_iter().take(6).chain(both)).rc(2);
}

#[test]
fn the_profiles_can_be_listed_and_shown() {
    let world = World::plain();
    let listed = world.run(["harness", "list"]).rc(0).out;
    for line in [
        "codex     reports tokens, not cost; `codex` is not installed",
        "pi        reports cost and tokens",
        "generic   reports neither cost nor tokens",
    ] {
        assert!(listed.contains(line), "{listed}");
    }
    let shown = world.run(["harness", "show", "pi"]).rc(0).out;
    let profile: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(profile["name"], "pi");
    let error = world
        .run(["harness", "show", "nobody"])
        .rc(1)
        .error()
        .to_owned();
    assert!(
        error.contains("there is no harness profile `nobody`"),
        "{error}"
    );
    // Nothing was called, and nothing is left.
    let missing = world
        .run(["harness", "test", "codex", "--offline"])
        .rc(10)
        .error()
        .to_owned();
    assert!(
        missing.contains("`codex` is not installed, or not on PATH"),
        "{missing}"
    );
}

// rows: H-39
#[test]
fn a_folder_of_profiles_that_cannot_be_listed_is_named() {
    let world = driven_by(json!("pi"));
    let templates = world.home().join(".automaton/templates");
    fs::create_dir_all(&templates).unwrap();
    fs::write(templates.join("harnesses"), "no folder").unwrap();
    let told = world.run(["harness", "list"]).rc(1).error().to_owned();
    assert!(told.contains("cannot list "), "{told}");
    assert!(told.contains("templates/harnesses: "), "{told}");
}

// rows: X-09, D-16
// cases: 152
#[test]
fn an_agent_that_writes_its_own_profile_stops_the_loop() {
    let world = driven_by(json!("pi"));
    world.role(
        "implement",
        "mkdir -p \"$HOME/.automaton/templates/harnesses\"; \
         echo '{}' >\"$HOME/.automaton/templates/harnesses/pi.json\"; echo x >>work.txt",
    );
    world.says("implement", pi_says("wrote it", 0.01));
    let told = world.tick();
    assert_eq!(told["reason"], "outside_changed", "{told:#}");
    let why = told["why"].as_str().unwrap();
    assert!(why.contains("harnesses/pi.json was added"), "{why}");
    assert_eq!(world.count("verify"), 0);
}

// rows: D-4
// cases: 40
#[test]
fn a_verdict_that_is_announced_before_the_judge_has_looked_is_none() {
    let world = driven_by(json!("claude"));
    world.configure(|config| config["roles"]["verify"]["harness"] = json!("pi"));
    world.agent("pi");
    world.says("implement", claude_says("wrote it", false, None));
    let looked = json!({"type": "message_end", "message": {"role": "toolResult",
        "content": [{"type": "text", "text": "12 tests FAILED"}]}});
    let announced = pi_says(&verdict(true, 1.0, ""), 0.01);
    world.says(
        "verify",
        format!("{announced}{looked}\n{}", pi_says("", 0.01)),
    );
    let told = world.tick();
    assert_eq!(told["outcome"], "verify_error", "{told:#}");
    assert_eq!(world.count("verify"), 2, "asked once more");
    world.says("verify", format!("{looked}\n{announced}"));
    assert_eq!(world.tick()["outcome"], "pass");
}

// rows: D-15
// cases: 133, 137
#[test]
fn a_cost_that_cannot_be_read_or_has_no_price_is_unknown_and_holds_no_cap_off() {
    let turn = |cost: Value| {
        let usage = json!({"input": 900_000, "cacheRead": 0, "cacheWrite": 0, "output": 5_000,
            "cost": {"total": cost}});
        let message = json!({"role": "assistant", "content": [{"type": "text", "text": "ok"}],
            "usage": usage, "stopReason": "stop"});
        format!("{}\n", json!({"type": "message_end", "message": message}))
    };
    for cost in [json!("1,234.50"), json!(0), json!(-1)] {
        let world = driven_by(json!("pi"));
        world.configure(|config| {
            config["brakes"]["max_cost_usd"] = json!(1);
            config["roles"] = json!({"implement": {"prompt": "impl.md"}});
        });
        world.says("implement", turn(cost.clone()));
        let told = world.tick();
        assert_eq!(told["cost_usd"], Value::Null, "{cost}: {told:#}");
        assert_eq!(told["reason"], "max_cost", "{cost}: {told:#}");
        assert_eq!(world.count("verify"), 0);
    }
}

// rows: D-8
// cases: 135
#[test]
fn a_tool_with_a_limit_of_its_own_is_given_what_is_left() {
    for (command, expected) in [
        (
            json!(["claude", "-p"]),
            vec!["claude", "--max-budget-usd", "1.00", "-p"],
        ),
        (
            json!(["claude", "-p", "--max-budget-usd", "50"]),
            vec!["claude", "-p", "--max-budget-usd", "1.00"],
        ),
        (
            json!(["claude", "-p", "--max-budget-usd=50"]),
            vec!["claude", "-p", "--max-budget-usd=1.00"],
        ),
        (json!(["rec", "claude"]), vec!["rec", "claude"]),
    ] {
        let world = driven_by(json!({"profile": "claude", "command": command}));
        world.configure(|config| {
            config["brakes"]["max_cost_usd"] = json!(1);
            config["roles"] = json!({"implement": {"prompt": "impl.md"}});
        });
        world.says("implement", claude_says("done", false, None));
        world.tick();
        assert_eq!(world.calls()[0].argv, expected);
        let examined = world.run(["doctor", "L"]).out;
        let is_told = examined.contains("--max-budget-usd cannot be given");
        assert_eq!(is_told, expected[0] == "rec", "{examined}");
    }
}
