//! A parsed prompt that can be looked into.

use std::ops::Range;

use crate::position::{Cursor, Position};
use crate::scan::{Hit, Scan, Spelling};
use crate::{Token, Values, render};

/// A prompt, split into text and tokens.
///
/// Parsing cannot fail and takes time linear in the text. Beyond the text itself a
/// template holds 24 bytes a token.
///
/// ```
/// use loop_prompts::{Template, Token, Values};
///
/// let template = Template::parse("In {cwd}:\n- {{ next_hint }}\n");
/// let places: Vec<_> = template.tokens().map(|t| (t.token, t.at.to_string())).collect();
/// assert_eq!(places, [(Token::Cwd, "1:4".into()), (Token::NextHint, "2:3".into())]);
///
/// let mut values = Values::unrestricted();
/// values.set(Token::Cwd, "/srv/app").set(Token::NextHint, "mind the {verdict}");
/// assert_eq!(template.render(&values), "In /srv/app:\n- mind the {verdict}\n");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    source: String,
    hits: Vec<Hit<Token>>,
}

/// A part of a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'t> {
    /// Text that is kept byte for byte.
    Text(&'t str),
    /// A token, with the bytes that spell it.
    Token(Token, &'t str),
}

/// A token in a template, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placeholder {
    /// Which token it is.
    pub token: Token,
    /// How it is written.
    pub spelling: Spelling,
    /// Its bytes in the source, braces included.
    pub range: Range<usize>,
    /// Where it begins, for people.
    pub at: Position,
}

impl Template {
    /// Splits a prompt's text at its tokens.
    pub fn parse(source: impl Into<String>) -> Self {
        let source = source.into();
        let hits = Scan::new(&source, Token::from_name).collect();
        Self { source, hits }
    }

    /// Returns the text as it was given.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Yields text and tokens in order; together they spell the source.
    pub fn pieces(&self) -> impl Iterator<Item = Piece<'_>> {
        let before = |index: usize| index.checked_sub(1).map_or(0, |i| self.hits[i].range.end);
        let last = Some(Piece::Text(&self.source[before(self.hits.len())..]));
        self.hits
            .iter()
            .enumerate()
            .flat_map(move |(index, hit)| {
                [
                    Piece::Text(&self.source[before(index)..hit.range.start]),
                    Piece::Token(hit.token, &self.source[hit.range.clone()]),
                ]
            })
            .chain(last)
            .filter(|piece| *piece != Piece::Text(""))
    }

    /// Yields the tokens with their places, in order.
    pub fn tokens(&self) -> impl Iterator<Item = Placeholder> + '_ {
        let mut cursor = Cursor::new(&self.source);
        self.hits.iter().map(move |hit| Placeholder {
            token: hit.token,
            spelling: hit.spelling,
            range: hit.range.clone(),
            at: cursor.advance(hit.range.start),
        })
    }

    /// Yields the tokens with their bytes, without counting lines.
    pub(crate) fn spans(&self) -> impl Iterator<Item = (Range<usize>, Token)> + '_ {
        self.hits.iter().map(|hit| (hit.range.clone(), hit.token))
    }

    /// Tells whether the prompt mentions a token.
    pub fn mentions(&self, token: Token) -> bool {
        self.hits.iter().any(|hit| hit.token == token)
    }

    /// Puts the values in place of the tokens.
    ///
    /// A token without a value stays as it was written. Values are neither escaped nor
    /// looked at again, so the result is the text of the pieces, one after another.
    pub fn render(&self, values: &Values<'_>) -> String {
        render::render(self, values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_spell_the_source() {
        let template = Template::parse("a{cwd}{{ fence }}b{x}");
        let pieces: Vec<_> = template.pieces().collect();
        assert_eq!(
            pieces,
            [
                Piece::Text("a"),
                Piece::Token(Token::Cwd, "{cwd}"),
                Piece::Token(Token::Fence, "{{ fence }}"),
                Piece::Text("b{x}"),
            ]
        );
        assert_eq!(Template::parse("").pieces().count(), 0);
        assert_eq!(Template::parse("{cwd}").pieces().count(), 1);
    }

    #[test]
    fn places_count_lines_and_characters() {
        let template = Template::parse("é{cwd}\r\n\n\u{1f6e1}\u{1f6e1} {{fence}} {cwd}\n{verdict}");
        let places: Vec<_> = template
            .tokens()
            .map(|t| (t.token, t.at.line, t.at.column, t.at.offset))
            .collect();
        assert_eq!(
            places,
            [
                (Token::Cwd, 1, 2, 2),
                (Token::Fence, 3, 4, 19),
                (Token::Cwd, 3, 14, 29),
                (Token::Verdict, 4, 1, 35),
            ]
        );
        assert!(template.mentions(Token::Fence) && !template.mentions(Token::TaskBrief));
    }
}
