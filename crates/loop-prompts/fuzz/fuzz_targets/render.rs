//! Any bytes, as a prompt and as values: the output is the concatenation of the pieces,
//! the lint points into the text, and nothing panics.

#![no_main]

use libfuzzer_sys::fuzz_target;
use loop_prompts::{CommandValues, Lint, Piece, Role, Template, Token, Values};

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    // The first line is the value of every token, so that values hold tokens as well.
    let (value, source) = text.split_once('\n').unwrap_or(("", &text));
    let (role, values) = role_and_values(value);
    let template = Template::parse(source);

    let plain: String = template
        .pieces()
        .map(|piece| match piece {
            Piece::Text(text) => text,
            Piece::Token(token, written) => values.get(token).unwrap_or(written),
        })
        .collect();
    let rendered = template.render(&values);
    assert_eq!(rendered, plain);

    let lint = Lint { role: Some(role), byte_limit: Some(1_000) };
    for place in lint.template(&template).into_iter().filter_map(|finding| finding.place) {
        let before = &source[..place.range.start];
        assert_eq!(place.at.line, 1 + before.matches('\n').count());
        assert!(source[place.range].starts_with('{'));
    }
    lint.rendered(&rendered, &values);

    let command = CommandValues { prompt: value, ..CommandValues::new(&values) };
    command.fill(source);
});

/// Takes the role from the value, so that every role is tried.
fn role_and_values(value: &str) -> (Role, Values<'_>) {
    let role = Role::ALL[value.len() % Role::ALL.len()];
    let mut values = Values::for_role(role);
    for token in Token::ALL {
        values.set(token, value);
    }
    (role, values)
}
