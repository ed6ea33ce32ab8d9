//! Hostile texts take no longer than friendly ones.
//!
//! Quadratic work on texts of this size takes a minute without optimization, so the
//! guard is generous and still means something. The benchmarks have larger ones.

use std::time::{Duration, Instant};

use loop_prompts::{CommandValues, Lint, Role, Template, Token, Values};

// rows: P-41
#[test]
fn hostile_texts_are_linear() {
    let size = 1 << 16;
    let begun = Instant::now();
    for unit in [
        "{", "}", "{{", "{{{", "{{ ", "{{{ ", "{{\t", "{a", "{{a", "{_", "{cwd", "{{cwd",
        "{{ cwd ", "{{!--", "{{#if ", "{{~", "\\", "$", "{\n", "{x}", "{{x}}", "\n", "é",
        "{{cwd }",
    ] {
        let text = unit.repeat(size / unit.len());
        let template = Template::parse(text.as_str());
        let values = Values::for_role(Role::Implement);
        assert_eq!(template.render(&values), text, "{unit:?}");
        assert_eq!(CommandValues::new(&values).fill(&text), text, "{unit:?}");
        Lint {
            role: Some(Role::Implement),
            byte_limit: None,
        }
        .template(&template);
    }
    let spread = format!("{{{{{}cwd", " ".repeat(size));
    assert_eq!(Template::parse(spread.as_str()).source(), spread);
    assert!(
        begun.elapsed() < Duration::from_secs(20),
        "{:?}",
        begun.elapsed()
    );
}

#[test]
fn a_token_may_hold_any_number_of_blanks() {
    let blanks = " ".repeat(100_000);
    let mut values = Values::unrestricted();
    values.set(Token::Cwd, "/w");
    assert_eq!(
        Template::parse(format!("{{{{{blanks}cwd{blanks}}}}}")).render(&values),
        "/w"
    );
}

#[test]
fn a_prompt_of_nothing_but_tokens_renders() {
    let mut values = Values::unrestricted();
    values.set(Token::Cwd, "/w");
    assert_eq!(
        Template::parse("{cwd}".repeat(10_000)).render(&values),
        "/w".repeat(10_000)
    );
}
