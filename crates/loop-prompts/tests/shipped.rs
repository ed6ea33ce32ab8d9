//! The shipped role prompts say what the loop relies on.

use loop_prompts::{Role, Template, Token, builtin};

fn text(file_name: &str) -> &'static str {
    let prompt = builtin()
        .iter()
        .find(|prompt| prompt.file_name == file_name);
    prompt.expect("it is shipped").text
}

fn implement() -> &'static str {
    text("loop-implement.md")
}

fn verifier() -> &'static str {
    text("loop-verifier.md")
}

fn orchestrate() -> &'static str {
    text("loop-orchestrate.md")
}

fn planner() -> &'static str {
    text("loop-planner.md")
}

/// Returns what stands under a heading, up to the next one.
fn section(text: &'static str, heading: &str) -> &'static str {
    let start = text
        .find(&format!("\n## {heading}\n"))
        .expect("the heading is there")
        + 4;
    let rest = &text[start..];
    rest.find("\n## ").map_or(rest, |end| &rest[..end])
}

fn assert_tokens(text: &str, tokens: &[Token]) {
    let template = Template::parse(text);
    for token in tokens {
        assert!(template.mentions(*token), "{token}");
    }
}

fn assert_says(text: &str, sentences: &[&str]) {
    for sentence in sentences {
        assert!(text.contains(sentence), "{sentence}");
    }
}

// rows: R-01, R-02, Q-05
#[test]
fn loop_implement_prompt_has_tokens() {
    assert_tokens(
        implement(),
        &[
            Token::TaskBrief,
            Token::AcceptanceCriteria,
            Token::NextHint,
            Token::Cwd,
            Token::CurrentTask,
            Token::CurrentPhase,
            Token::Fence,
        ],
    );
}

// rows: R-03, R-04, R-05, R-13, Q-06
#[test]
fn loop_implement_prompt_has_forbidden_section() {
    assert!(section(implement(), "ALLOWED").contains("`{cwd}`"));
    assert_says(
        section(implement(), "FORBIDDEN"),
        &[
            "A changed check is worse than an honest failure.",
            "`git add`, `git commit`, `git stash`",
            "`loop task transition`",
            "`loop approve`: approving is a person's act.",
        ],
    );
    assert_says(
        implement(),
        &[
            "the task's SPEC describes",
            "Your final text is the artifact",
        ],
    );
}

// decision: D-4
#[test]
fn loop_implement_prompt_offers_two_honest_ways_out() {
    assert_says(
        implement(),
        &[
            "\n{\"blocked\": \"what is missing\"}\n",
            "\n{\"no_work\": \"why nothing needs doing\"}\n",
        ],
    );
}

// rows: R-06, R-08, P-22, Q-07
#[test]
fn loop_verifier_prompt_has_json_instruction() {
    let shape = r#"{"pass": bool, "score": 0.0-1.0, "reasons": [...], "next_hint": "..."}"#;
    assert_says(
        verifier(),
        &["strict JSON", shape, "\"blocked\": \"what is missing\""],
    );
    let rendered = Template::parse(verifier()).render(&full(Role::Verify));
    assert!(rendered.contains(shape));
}

// rows: R-09, R-17, Q-08
#[test]
fn loop_verifier_prompt_has_score_rubric() {
    assert_says(
        section(verifier(), "Score rubric"),
        &[
            "`1.0`: fully satisfied",
            "`0.7`: minor defects",
            "`0.4`: partial",
            "`0.0`: no progress",
            "A pass means a score of at least 0.7",
        ],
    );
}

// rows: R-07, Q-09
#[test]
fn loop_verifier_prompt_has_tokens() {
    assert_tokens(
        verifier(),
        &[
            Token::ArtifactContent,
            Token::AcceptanceCriteria,
            Token::TaskBrief,
            Token::NextHint,
            Token::Fence,
        ],
    );
}

// decision: D-4, ambiguity A-22
#[test]
fn loop_verifier_prompt_judges_the_directory() {
    assert_says(
        verifier(),
        &[
            "Judge the working directory, never the report",
            "it may be empty",
            "A changed check is worse than an honest failure",
            "`loop approve`, which is for a person",
        ],
    );
}

// rows: R-10, Q-10
#[test]
fn loop_orchestrate_prompt_has_verdict_token() {
    assert_tokens(
        orchestrate(),
        &[
            Token::Verdict,
            Token::CurrentTask,
            Token::CurrentPhase,
            Token::Fence,
        ],
    );
}

// rows: R-11, R-12, Q-11
#[test]
fn loop_orchestrate_prompt_has_no_edit_rule() {
    assert_says(
        section(orchestrate(), "FORBIDDEN"),
        &[
            "No file edits",
            "No auto-approve (D4)",
            "More than one status operation",
        ],
    );
    assert_says(
        orchestrate(),
        &[
            "exactly one status operation",
            "`loop task transition {current_task}` |",
            "`loop task transition {current_task} --to human_intervention`",
            "that person then reads the work and runs `loop approve`",
        ],
    );
}

// rows: G-08, G-09, U-39; shapes §8; ambiguity A-29
#[test]
fn loop_planner_prompt_has_the_contract() {
    assert_tokens(
        planner(),
        &[
            Token::TaskBrief,
            Token::AcceptanceCriteria,
            Token::CurrentTask,
            Token::Cwd,
            Token::Fence,
        ],
    );
    assert_says(
        planner(),
        &[
            "**Bounded**",
            "**Something can automatically reject bad output**",
            "**The agent can do it end to end**",
            "**\"Done\" is objective**",
            "`scripts/verify.sh`",
            "Red now, for the right reason",
            "each item of your plan names the check that proves it",
            "\nPLANNED\nREFUSED: <code>: <",
            "`not_bounded`, `not_rejectable`, `not_end_to_end`, `not_objective`, `already_green`, \
             `needs_person`, `irreversible`",
        ],
    );
    for key in [
        "v",
        "boxes",
        "bounded",
        "rejectable",
        "end_to_end",
        "objective",
        "plan",
    ] {
        assert!(planner().contains(&format!("\"{key}\": ")), "{key}");
    }
    for key in ["item", "check", "covers", "line", "frozen"] {
        assert!(planner().contains(&format!("\"{key}\": ")), "{key}");
    }
}

// rows: R-13, R-14, R-15; case: 148
#[test]
fn every_prompt_has_the_same_frame() {
    for prompt in builtin() {
        let text = prompt.text;
        assert!(text.starts_with("# "), "{}", prompt.file_name);
        assert!(
            (2_000..=10_000).contains(&text.len()),
            "{}",
            prompt.file_name
        );
        assert!(text.ends_with('\n') && !text.contains('\r'));
        assert!(!section(text, "ALLOWED").is_empty());
        let forbidden = section(text, "FORBIDDEN");
        assert_says(
            forbidden,
            &["`git add`, `git commit`, `git stash`", "`loop approve`"],
        );
        let fences = text.lines().filter(|line| line.starts_with("=== {fence} "));
        let ends: Vec<_> = fences.map(|line| line.ends_with(" BEGINS ===")).collect();
        assert!(
            ends.chunks(2).all(|pair| pair == [true, false]),
            "{}",
            prompt.file_name
        );
    }
}

// rows: K-20; case: 148
#[test]
fn what_others_wrote_stands_between_fences() {
    for (text, token, name) in [
        (implement(), "task_brief", "BRIEF"),
        (implement(), "next_hint", "HINT"),
        (verifier(), "task_brief", "BRIEF"),
        (verifier(), "next_hint", "HINT"),
        (verifier(), "artifact_content", "REPORT"),
        (orchestrate(), "verdict", "VERDICT"),
        (planner(), "task_brief", "TASK"),
    ] {
        let block = format!(
            "=== {{fence}} {name} BEGINS ===\n{{{token}}}\n=== {{fence}} {name} ENDS ===\n"
        );
        assert_eq!(text.matches(&block).count(), 1, "{name}");
        assert_eq!(text.matches(&format!("{{{token}}}")).count(), 1, "{token}");
    }
    // Implement has seen the tick's fence and could forge its end, so nothing follows.
    assert!(verifier().ends_with("=== {fence} REPORT ENDS ===\n"));
}

fn full(role: Role) -> loop_prompts::Values<'static> {
    let mut values = loop_prompts::Values::for_role(role);
    for token in Token::ALL {
        values.set(token, "value");
    }
    values
}
