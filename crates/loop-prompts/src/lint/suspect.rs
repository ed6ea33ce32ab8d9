//! Finds what looks as if it were meant to be a token.

use std::ops::Range;

use crate::{CommandToken, Template, Token};

/// Words and tags longer than this were not meant as tokens.
const MAX_LEN: usize = 100;

/// Something in braces that deserves a look.
pub(super) enum Suspect<'t> {
    /// A token, which may be the wrong one for the role.
    Known(Token),
    /// Almost a token.
    Near(&'t str, Token),
    /// A token of commands.
    Command(&'t str, CommandToken),
    /// A name in two braces that is no token.
    Unknown(&'t str),
    /// A block, comment, partial or the like.
    Tag(&'t str),
}

/// Yields tokens and what resembles them, in the order of the text.
pub(super) fn suspects(template: &Template) -> impl Iterator<Item = (Range<usize>, Suspect<'_>)> {
    let source = template.source();
    let mut done = 0;
    template
        .spans()
        .map(|(range, token)| (range, Some(token)))
        .chain([(source.len()..source.len(), None)])
        .flat_map(move |(range, token)| {
            let gap = Gap {
                source,
                from: done,
                end: range.start,
            };
            done = range.end;
            gap.chain(token.map(|token| (range, Suspect::Known(token))))
        })
}

/// The text between two tokens, searched from left to right.
///
/// What follows a run of braces is read up to the next brace only, and the search
/// goes on there, so every byte is read once.
struct Gap<'t> {
    source: &'t str,
    from: usize,
    end: usize,
}

impl<'t> Iterator for Gap<'t> {
    type Item = (Range<usize>, Suspect<'t>);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let text = &self.source[self.from..self.end];
            let open = self.from + text.find('{')?;
            let body = open + run(&self.source[open..self.end], '{');
            let inside = &self.source[body..self.end];
            let len = inside.find(['{', '}', '\n']).unwrap_or(inside.len());
            let after = body + len;
            self.from = after;
            let braces = (body - open)
                .min(run(&self.source[after..self.end], '}'))
                .min(3);
            let range = body - braces..after + braces;
            if braces > 0
                && range.len() <= MAX_LEN
                && !self.source[..open].ends_with('$')
                && let Some(suspect) = classify(&self.source[range.clone()], braces)
            {
                return Some((range, suspect));
            }
        }
    }
}

/// Returns how often `brace` stands at the beginning of a text.
fn run(text: &str, brace: char) -> usize {
    text.len() - text.trim_start_matches(brace).len()
}

/// Tells what `text` is, which has `braces` braces on either side.
fn classify(text: &str, braces: usize) -> Option<Suspect<'_>> {
    let body = text[braces..text.len() - braces].trim_matches([' ', '\t']);
    if let Some(token) = CommandToken::OWN
        .into_iter()
        .find(|token| token.name() == body)
    {
        return Some(Suspect::Command(text, token));
    }
    if let Some(token) = nearest(body, braces) {
        return Some(Suspect::Near(text, token));
    }
    if braces == 1 || body.is_empty() {
        return None;
    }
    let sigils = ['#', '/', '!', '>', '^', '&', '~', '*'];
    if body.starts_with(sigils) || body.ends_with('~') || body == "else" {
        return Some(Suspect::Tag(text));
    }
    let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let is_path = body.starts_with(|c: char| c.is_ascii_alphabetic()) && body.chars().all(word);
    is_path.then_some(Suspect::Unknown(text))
}

/// Returns the token that `body` was probably meant to be.
fn nearest(body: &str, braces: usize) -> Option<Token> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ' ');
    if !body.chars().all(plain) {
        return None;
    }
    let snake = snake_case(body);
    if let Some(token) = Token::from_name(&snake) {
        return Some(token);
    }
    let mut best: Option<(usize, Token)> = None;
    for token in Token::ALL {
        let name = token.name();
        // A short word in one brace is code far more often than a slip.
        if braces == 1 && name.len() < 5 {
            continue;
        }
        let allowed = if name.len() < 7 { 1 } else { 2 };
        let distance = strsim::damerau_levenshtein(&snake, name);
        if distance <= allowed && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, token));
        }
    }
    best.map(|(_, token)| token)
}

/// Writes `taskBrief`, `TASK-BRIEF` and `Task brief` as `task_brief`.
fn snake_case(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 4);
    let mut after_lower = false;
    for c in name.chars() {
        if c.is_ascii_uppercase() && after_lower {
            snake.push('_');
        }
        after_lower = c.is_ascii_lowercase();
        snake.push(if matches!(c, '-' | ' ') {
            '_'
        } else {
            c.to_ascii_lowercase()
        });
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes each suspect as a letter, the text and the token.
    fn found(text: &str) -> Vec<String> {
        let template = Template::parse(text);
        suspects(&template)
            .map(|(range, suspect)| {
                let text = &text[range];
                match suspect {
                    Suspect::Known(token) => format!("known {text} {token}"),
                    Suspect::Near(same, token) => {
                        assert_eq!(same, text);
                        format!("near {text} {token}")
                    }
                    Suspect::Command(same, _) | Suspect::Unknown(same) | Suspect::Tag(same) => {
                        assert_eq!(same, text);
                        format!("other {text}")
                    }
                }
            })
            .collect()
    }

    // cases: 61
    #[test]
    fn near_misses_are_found_in_every_spelling() {
        for (text, expected) in [
            ("{task_breif}", "near {task_breif} {task_brief}"),
            ("{ task_brief }", "near { task_brief } {task_brief}"),
            ("{TASK_BRIEF}", "near {TASK_BRIEF} {task_brief}"),
            ("{taskBrief}", "near {taskBrief} {task_brief}"),
            ("{task-brief}", "near {task-brief} {task_brief}"),
            ("{{ next hint }}", "near {{ next hint }} {next_hint}"),
            ("{{{verdicts}}}", "near {{{verdicts}}} {verdict}"),
            ("a {{cmd}} b", "near {{cmd}} {cwd}"),
            ("{{verdct}", "near {verdct} {verdict}"),
        ] {
            assert_eq!(found(text), [expected], "{text}");
        }
    }

    #[test]
    fn handlebars_and_command_tokens_are_told_apart_from_text() {
        for (text, expected) in [
            ("{{#if next_hint}}", "other {{#if next_hint}}"),
            ("{{/if}}", "other {{/if}}"),
            ("{{else}}", "other {{else}}"),
            ("{{~cwd~}}", "other {{~cwd~}}"),
            ("{{!-- c --}}", "other {{!-- c --}}"),
            ("{{> part}}", "other {{> part}}"),
            ("{{ last.hint }}", "other {{ last.hint }}"),
            ("{{{{raw}}}}", "other {{{raw}}}"),
            ("{output}", "other {output}"),
            ("{{cwd}}", "known {{cwd}} {cwd}"),
        ] {
            assert_eq!(found(text), [expected], "{text}");
        }
    }

    // rows: P-26
    #[test]
    fn everyday_text_is_left_alone() {
        for text in [
            "{}",
            "{{}}",
            "{foo}",
            "{cmd}",
            "${{ secrets.X }}",
            "${{ github.ref }}",
            "{\"pass\": bool}",
            "{{\"a\":1}}",
            "{{ .Values.x }}",
            "{{ x | upper }}",
            "style={{ color: red }}",
            "{% raw %}",
            "{#if}",
            "{{ open",
            "{",
            "{{#\n}}",
        ] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn order_is_that_of_the_text() {
        assert_eq!(
            found("{verdcit}{cwd}{{x}}{fence}{fense}"),
            [
                "near {verdcit} {verdict}",
                "known {cwd} {cwd}",
                "other {{x}}",
                "known {fence} {fence}",
                "near {fense} {fence}"
            ]
        );
    }
}
