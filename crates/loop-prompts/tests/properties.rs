//! Properties of rendering, truncation, commands and lint.
//!
//! A plain `cargo test` tries each 256 times. Ten thousand times, as before a release:
//!
//! ```text
//! PROPTEST_CASES=10000 cargo test -p loop-prompts --test properties
//! ```

use std::fs;

use loop_prompts::{
    CommandToken, CommandValues, FindingKind, Lint, Piece, Position, Resolution, Resolver, Role,
    Spelling, TRUNCATION_MARKER, Template, Token, Values, truncate,
};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

fn config() -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

fn token() -> impl Strategy<Value = Token> {
    proptest::sample::select(Token::ALL.to_vec())
}

fn spelled(token: Token, spelling: Spelling, blank: &str) -> String {
    let (open, close) = spelling.braces();
    let blank = if spelling == Spelling::Single {
        ""
    } else {
        blank
    };
    [open, blank, token.name(), blank, close].concat()
}

/// A token in any of its spellings.
fn spelling_of(token: Token) -> impl Strategy<Value = String> {
    let spelling = proptest::sample::select(Spelling::ALL.to_vec());
    let blank = proptest::sample::select(vec!["", " ", "\t "]);
    (spelling, blank).prop_map(move |(spelling, blank)| spelled(token, spelling, blank))
}

/// Text made of everything that could mean something to a parser.
fn nasty() -> impl Strategy<Value = String> {
    nasty_of(24)
}

fn nasty_of(atoms: usize) -> impl Strategy<Value = String> {
    let meaningful = proptest::sample::select(MEANINGFUL);
    let atom = prop_oneof![
        6 => meaningful.prop_map(str::to_owned),
        3 => token().prop_flat_map(spelling_of),
        1 => any::<String>(),
        1 => any::<char>().prop_map(String::from),
    ];
    proptest::collection::vec(atom, 0..atoms).prop_map(|atoms| atoms.concat())
}

const MEANINGFUL: &[&str] = &[
    "{",
    "}",
    "{{",
    "}}",
    "{{{",
    "}}}",
    "\\",
    "$",
    "~",
    "#",
    "!--",
    "--",
    ">",
    "&",
    "\"",
    "'",
    "<",
    " ",
    "\t",
    "\n",
    "\r\n",
    "\0",
    "\u{feff}",
    "foo",
    "cwd",
    "task_brief",
    "next_hint",
    "fence",
    "{{#if next_hint}}",
    "{{/if}}",
    "{{else}}",
    "{{> p}}",
    "{{!-- c --}}",
    "${{ secrets.X }}",
    "{{{{raw}}}}",
    "{\"pass\": bool}",
    "{ verdict }",
    "{task_breif}",
    "{output}",
    "é\u{1f6e1}",
];

/// Nasty text in which no known name is left.
fn nameless() -> impl Strategy<Value = String> {
    nameless_of(24)
}

fn nameless_of(atoms: usize) -> impl Strategy<Value = String> {
    nasty_of(atoms).prop_map(|text| {
        Token::ALL.iter().fold(text, |text, token| {
            text.replace(token.name(), &token.name().to_uppercase())
        })
    })
}

/// A text or none for every token.
fn texts() -> impl Strategy<Value = Vec<Option<String>>> {
    proptest::collection::vec(proptest::option::of(nasty_of(4)), Token::ALL.len())
}

fn values(texts: &[Option<String>]) -> Values<'_> {
    let mut values = Values::unrestricted();
    for (token, text) in Token::ALL.into_iter().zip(texts) {
        if let Some(text) = text {
            values.set(token, text.as_str());
        }
    }
    values
}

/// The oracle of the back end: pieces, one after another.
fn concatenated(template: &Template, values: &Values<'_>) -> String {
    template
        .pieces()
        .map(|piece| match piece {
            Piece::Text(text) => text,
            Piece::Token(token, written) => values.get(token).unwrap_or(written),
        })
        .collect()
}

/// Counts lines and columns the slow way.
fn position(text: &str, offset: usize) -> Position {
    let mut at = Position {
        offset,
        line: 1,
        column: 1,
    };
    for (_, c) in text.char_indices().take_while(|(index, _)| *index < offset) {
        (at.line, at.column) = if c == '\n' {
            (at.line + 1, 1)
        } else {
            (at.line, at.column + 1)
        };
    }
    at
}

proptest! {
    #![proptest_config(config())]

    // rows: P-39, P-21, P-26, P-29
    #[test]
    fn without_a_known_token_rendering_is_the_identity(text in nameless(), texts in texts()) {
        prop_assert_eq!(Template::parse(text.as_str()).render(&values(&texts)), text);
    }

    // rows: P-39
    #[test]
    fn without_a_known_token_any_string_is_itself(text in any::<String>(), texts in texts()) {
        prop_assume!(Template::parse(text.as_str()).tokens().next().is_none());
        prop_assert_eq!(Template::parse(text.as_str()).render(&values(&texts)), text);
    }

    // rows: P-40, P-10, P-23, P-25
    #[test]
    fn the_output_is_the_concatenation_of_literals_and_values(
        parts in proptest::collection::vec((nameless_of(6), token(), 0..3usize), 0..12),
        texts in texts(),
    ) {
        let values = values(&texts);
        let (mut source, mut expected) = (String::new(), String::new());
        for (literal, token, spelling) in parts {
            // The dots keep a literal's braces from joining those of the token.
            let literal = format!(".{literal}.");
            let written = spelled(token, Spelling::ALL[spelling], " ");
            source.extend([literal.as_str(), &written]);
            expected.extend([literal.as_str(), values.get(token).unwrap_or(&written)]);
        }
        prop_assert_eq!(Template::parse(source).render(&values), expected);
    }

    // rows: P-40, P-41
    #[test]
    fn handlebars_agrees_with_plain_concatenation(source in nasty(), texts in texts()) {
        let template = Template::parse(source);
        let values = values(&texts);
        prop_assert_eq!(template.render(&values), concatenated(&template, &values));
    }

    // rows: P-23; cases: 59
    #[test]
    fn values_are_opaque(source in nasty(), texts in texts()) {
        // The source cannot hold the marks: they are not in `nasty`'s reach.
        prop_assume!(!source.contains('\u{e000}'));
        let template = Template::parse(source);
        let mark = |token: Token| format!("\u{e000}{}\u{e001}", token as usize);
        let real = values(&texts);
        let mut marked = Values::unrestricted();
        for token in Token::ALL.into_iter().filter(|token| real.get(*token).is_some()) {
            marked.set(token, mark(token));
        }
        let rendered = template.render(&marked);
        let mut pieces = Vec::new();
        for (index, part) in rendered.split('\u{e000}').enumerate() {
            match part.split_once('\u{e001}').filter(|_| index > 0) {
                Some((number, rest)) => {
                    let token = Token::ALL[number.parse::<usize>().unwrap()];
                    pieces.extend([real.get(token).unwrap(), rest]);
                }
                None => pieces.push(part),
            }
        }
        prop_assert_eq!(template.render(&real), pieces.concat());
    }

    // rows: P-42
    #[test]
    fn the_order_of_values_does_not_matter(
        source in nasty(),
        texts in texts(),
        order in Just(Token::ALL.to_vec()).prop_shuffle(),
    ) {
        let mut shuffled = Values::unrestricted();
        for token in order {
            if let Some(text) = &texts[token as usize] {
                shuffled.set(token, text.as_str());
            }
        }
        let template = Template::parse(source);
        prop_assert_eq!(template.render(&shuffled), template.render(&values(&texts)));
    }

    // rows: P-24, P-43
    #[test]
    fn every_spelling_renders_alike(
        before in nameless(),
        after in nameless(),
        token in token(),
        value in nasty(),
        blank in "[ \t]{0,3}",
    ) {
        let mut values = Values::unrestricted();
        values.set(token, value.as_str());
        for spelling in Spelling::ALL {
            let written = spelled(token, spelling, &blank);
            let rendered = Template::parse(format!("{before}.{written}.{after}")).render(&values);
            prop_assert_eq!(rendered, format!("{before}.{value}.{after}"));
        }
    }

    #[test]
    fn pieces_and_places_are_those_of_the_source(source in nasty()) {
        let template = Template::parse(source.as_str());
        let spelled: String = template
            .pieces()
            .map(|piece| match piece { Piece::Text(text) | Piece::Token(_, text) => text })
            .collect();
        prop_assert_eq!(&spelled, &source);
        for found in template.tokens() {
            prop_assert_eq!(found.at, position(&source, found.range.start));
            let (open, close) = found.spelling.braces();
            let written = &source[found.range];
            let name = written.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
            prop_assert_eq!(name.map(|name| name.trim_matches([' ', '\t'])), Some(found.token.name()));
        }
    }

    // rows: K-11, K-13..K-17; cases: 65
    #[test]
    fn truncation_keeps_whole_characters_and_is_idempotent(text in nasty(), max in 0..12usize) {
        let (short, cut) = truncate(text.as_str(), max);
        match cut {
            None => {
                prop_assert_eq!(short.as_ref(), text.as_str());
                prop_assert!(text.chars().count() <= 4 * max);
            }
            Some(cut) => {
                let kept: String = text.chars().take(4 * max).collect();
                prop_assert_eq!(short.as_ref(), kept + TRUNCATION_MARKER);
                prop_assert_eq!(cut.kept, 4 * max);
                prop_assert_eq!(cut.kept + cut.dropped, text.chars().count());
            }
        }
        prop_assert_eq!(&truncate(short.as_ref(), max).0, &short);
    }

    #[test]
    fn lint_never_lies_about_places(source in nasty()) {
        let lint = Lint { role: Some(Role::Orchestrate), byte_limit: None };
        let mut end = 0;
        for finding in lint.template(&Template::parse(source.as_str())) {
            let Some(place) = &finding.place else { continue };
            prop_assert!(end <= place.range.start, "findings overlap or are out of order");
            end = place.range.end;
            prop_assert_eq!(place.at, position(&source, place.range.start));
            let there = &source[place.range.clone()];
            match &finding.kind {
                FindingKind::NearMiss { text, .. }
                | FindingKind::CommandOnly { text, .. }
                | FindingKind::StaysText { text, .. } => {
                    prop_assert_eq!(text, there);
                    let alone = Template::parse(there);
                    prop_assert_eq!(alone.tokens().count(), 0, "a token is not a suspect");
                }
                FindingKind::NeverHasValue { token, .. } => prop_assert!(there.contains(token.name())),
                other => prop_assert!(false, "{other} has no place"),
            }
        }
    }

    // rows: H-28, H-29, H-30; cases: 58
    #[test]
    fn a_command_is_filled_in_once(
        before in nameless(),
        token in proptest::sample::select(vec![
            CommandToken::Prompt,
            CommandToken::PromptContent,
            CommandToken::Output,
            CommandToken::Artifact,
            CommandToken::Content(Token::Cwd),
        ]),
        text in nasty(),
        given in any::<bool>(),
    ) {
        let mut values = Values::unrestricted();
        if given {
            values.set(Token::Cwd, text.as_str());
        }
        let command = CommandValues {
            prompt: &text,
            prompt_content: &text,
            output: given.then_some(&text),
            artifact: given.then_some(&text),
            values: &values,
        };
        let before = CommandToken::OWN
            .iter()
            .fold(before, |before, own| before.replace(&format!("{}}}", own.name()), "x}"));
        let always = matches!(token, CommandToken::Prompt | CommandToken::PromptContent);
        let written = format!("{{{}}}", token.name());
        let expected = if given || always { &text } else { &written };
        prop_assume!(CommandToken::OWN.iter().all(|own| !own.is_in(&before)));
        prop_assert_eq!(command.fill(&format!("{before}.{written}")), format!("{before}.{expected}"));
        prop_assert!(token.is_in(&written));
    }
}

// rows: P-34, P-41, W-10
#[test]
fn arbitrary_bytes_never_panic() {
    let dir = tempfile::tempdir().unwrap();
    let resolver = Resolver::new(dir.path(), dir.path());
    let bytes = proptest::collection::vec(any::<u8>(), 0..200);
    let everything_runs = |bytes: Vec<u8>| {
        fs::write(dir.path().join("p.md"), &bytes).unwrap();
        let Resolution::Found { text, .. } = resolver.find("p.md").result else {
            return Err(TestCaseError::fail("it is there"));
        };
        prop_assert_eq!(text.as_str(), String::from_utf8_lossy(&bytes));
        let template = Template::parse(text.as_str());
        let rendered = template.render(&Values::for_role(Role::Verify));
        let lint = Lint {
            role: Some(Role::Plan),
            byte_limit: Some(100),
        };
        lint.template(&template);
        lint.rendered(&rendered, &Values::unrestricted());
        CommandValues::new(&Values::unrestricted()).fill(&text);
        Ok(())
    };
    TestRunner::new(config())
        .run(&bytes, everything_runs)
        .unwrap();
}
