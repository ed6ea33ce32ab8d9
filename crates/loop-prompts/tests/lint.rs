//! What the lint finds in whole prompts.

use loop_prompts::{
    ARGUMENT_LIMIT, Finding, FindingKind, Lint, Role, Severity, Template, Token, Values, builtin,
};

fn messages(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(Finding::to_string).collect()
}

fn lint(role: Role, text: &str) -> Vec<Finding> {
    let lint = Lint {
        role: Some(role),
        byte_limit: None,
    };
    lint.template(&Template::parse(text))
}

// cases: 61, 62
#[test]
fn places_are_those_of_an_editor() {
    let findings = lint(
        Role::Implement,
        "# é {verdict}\r\n\n  {{ taks_brief }}{{#if next_hint}}x",
    );
    assert_eq!(
        messages(&findings),
        [
            "1:5: role implement never has a value for `{verdict}`, which stays as it is written",
            "3:3: `{{ taks_brief }}` is no token and stays text, did you mean `{task_brief}`?",
            "3:19: `{{#if next_hint}}` looks like handlebars and stays text",
        ]
    );
}

// rows: K-20, P-13
#[test]
fn tokens_that_a_role_never_has_are_named() {
    let all: String = Token::ALL.iter().map(Token::to_string).collect();
    for role in Role::ALL {
        let named: Vec<_> = lint(role, &all)
            .into_iter()
            .map(|finding| match finding.kind {
                FindingKind::NeverHasValue { token, .. } => token,
                kind => panic!("{kind}"),
            })
            .collect();
        let expected: Vec<_> = Token::ALL
            .into_iter()
            .filter(|token| !role.sees(*token))
            .collect();
        assert_eq!(named, expected, "{role}");
    }
    assert!(Lint::default().template(&Template::parse(all)).is_empty());
    assert_eq!(
        messages(&lint(Role::Implement, "{artifact_content}")),
        ["1:1: role implement never has a value for `{artifact_content}`, which is always empty"]
    );
}

// rows: R-14, U-38; cases: 64
#[test]
fn a_prompt_that_cannot_work_is_named() {
    for (text, kind, severity) in [
        ("- do", FindingKind::LeadingDash, Severity::Warning),
        (
            "---\nname: x\n---\n",
            FindingKind::LeadingDash,
            Severity::Warning,
        ),
        (" \r\n", FindingKind::Blank, Severity::Error),
        ("\u{feff}", FindingKind::Blank, Severity::Error),
        ("", FindingKind::Blank, Severity::Error),
        (
            "# T\n<!-- loop:placeholder -->\r\n",
            FindingKind::Placeholder,
            Severity::Error,
        ),
    ] {
        assert_eq!(kind.severity(), severity);
        let expected = [Finding { kind, place: None }];
        assert_eq!(lint(Role::Implement, text), expected, "{text:?}");
        let values = Values::for_role(Role::Implement);
        assert_eq!(
            Lint::default().rendered(text, &values),
            expected,
            "{text:?}"
        );
    }
}

// rows: H-33
#[test]
fn a_size_near_the_limit_is_named_with_both_numbers() {
    let lint = Lint {
        role: None,
        byte_limit: Some(ARGUMENT_LIMIT),
    };
    let values = Values::unrestricted();
    let at = |bytes: usize| lint.rendered(&"x".repeat(bytes), &values);
    assert_eq!(at(117_964), []);
    let findings = at(117_965);
    assert_eq!(
        messages(&findings),
        ["the rendered prompt has 117965 bytes, close to the limit of 131071"]
    );
    assert_eq!(findings[0].kind.severity(), Severity::Warning);
    assert_eq!(at(ARGUMENT_LIMIT)[0].kind.severity(), Severity::Warning);
    let findings = at(ARGUMENT_LIMIT + 1);
    assert_eq!(
        messages(&findings),
        ["the rendered prompt has 131072 bytes, over the limit of 131071"]
    );
    assert_eq!(findings[0].kind.severity(), Severity::Error);
}

// rows: K-12
#[test]
fn values_that_were_cut_are_named_and_by_how_much() {
    let mut values = Values::for_role(Role::Implement);
    values
        .set(Token::TaskBrief, "é".repeat(16_084))
        .set(Token::NextHint, "short");
    assert_eq!(
        messages(&Lint::default().rendered("x", &values)),
        ["the value of `{task_brief}` was cut to 16000 characters, 84 were left out"]
    );
}

#[test]
fn the_shipped_prompts_are_clean() {
    let roles = [Role::Implement, Role::Verify, Role::Orchestrate, Role::Plan];
    for (prompt, role) in builtin().iter().zip(roles) {
        assert_eq!(
            messages(&lint(role, prompt.text)),
            [""; 0],
            "{}",
            prompt.file_name
        );
    }
}

#[test]
fn a_flood_of_findings_is_bounded() {
    let findings = Lint::default().template(&Template::parse("{{x}}".repeat(5_000)));
    assert_eq!(findings.len(), 1_000);
}
