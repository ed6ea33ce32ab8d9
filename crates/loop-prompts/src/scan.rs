//! Finds tokens in a text: the whole of the prompt syntax.
//!
//! `{name}`, `{{name}}` and `{{{name}}}` are tokens when the name is a known one, the
//! latter two with or without blanks inside. Every other byte is text. There is no
//! escape, no error and no second pass.
//!
//! A look at one `{` ends at the first byte that cannot belong to a token, and only
//! the last three braces of a run are ever followed by a name or a blank, so the cost
//! is linear in the text, whatever it holds.

use std::ops::Range;

/// How a token is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Spelling {
    /// `{name}`, the contract.
    Single,
    /// `{{name}}` or `{{ name }}`.
    Double,
    /// `{{{name}}}` or `{{{ name }}}`.
    Triple,
}

impl Spelling {
    /// Every spelling, the longest first: the order in which they are tried.
    pub const ALL: [Self; 3] = [Self::Triple, Self::Double, Self::Single];

    /// Returns what stands before and after the name.
    pub const fn braces(self) -> (&'static str, &'static str) {
        match self {
            Self::Single => ("{", "}"),
            Self::Double => ("{{", "}}"),
            Self::Triple => ("{{{", "}}}"),
        }
    }
}

/// A token found in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hit<T> {
    /// What the name stands for.
    pub(crate) token: T,
    /// How it is written.
    pub(crate) spelling: Spelling,
    /// The bytes from the first brace to the last.
    pub(crate) range: Range<usize>,
}

/// Yields the tokens of a text from left to right.
pub(crate) struct Scan<'s, T> {
    text: &'s str,
    from: usize,
    lookup: fn(&str) -> Option<T>,
}

impl<'s, T> Scan<'s, T> {
    /// Starts a scan for the names that `lookup` knows.
    pub(crate) fn new(text: &'s str, lookup: fn(&str) -> Option<T>) -> Self {
        Self {
            text,
            from: 0,
            lookup,
        }
    }
}

impl<T> Iterator for Scan<'_, T> {
    type Item = Hit<T>;

    fn next(&mut self) -> Option<Hit<T>> {
        loop {
            let start = self.from + self.text[self.from..].find('{')?;
            let Some(shape) = Shape::at(&self.text[start..]) else {
                self.from = start + 1;
                continue;
            };
            if let Some(token) = (self.lookup)(shape.name) {
                self.from = start + shape.len;
                return Some(Hit {
                    token,
                    spelling: shape.spelling,
                    range: start..self.from,
                });
            }
            // A name that is not known cannot hide one that is.
            self.from = start + 1;
        }
    }
}

/// Something with the form of a token, whether or not its name is known.
struct Shape<'s> {
    name: &'s str,
    spelling: Spelling,
    len: usize,
}

impl<'s> Shape<'s> {
    /// Reads the token that `text` begins with.
    fn at(text: &'s str) -> Option<Self> {
        Spelling::ALL.into_iter().find_map(|spelling| {
            let (open, close) = spelling.braces();
            let blanks: &[char] = if spelling == Spelling::Single {
                &[]
            } else {
                &[' ', '\t']
            };
            let inner = text.strip_prefix(open)?.trim_start_matches(blanks);
            let end = inner.find(|c: char| !is_name_char(c))?;
            let rest = inner[end..]
                .trim_start_matches(blanks)
                .strip_prefix(close)?;
            Some(Self {
                name: &inner[..end],
                spelling,
                len: text.len() - rest.len(),
            })
        })
    }
}

const fn is_name_char(c: char) -> bool {
    c.is_ascii_lowercase() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Token;

    /// Writes each token found as `name@range`.
    fn found(text: &str) -> Vec<String> {
        Scan::new(text, Token::from_name)
            .map(|hit| format!("{}@{:?}", hit.token.name(), hit.range))
            .collect()
    }

    // rows: P-08, P-24
    #[test]
    fn every_spelling_is_found_whole() {
        for (text, spelling) in [
            ("{cwd}", Spelling::Single),
            ("{{cwd}}", Spelling::Double),
            ("{{ cwd }}", Spelling::Double),
            ("{{\tcwd  }}", Spelling::Double),
            ("{{{cwd}}}", Spelling::Triple),
            ("{{{ cwd }}}", Spelling::Triple),
        ] {
            let hits: Vec<_> = Scan::new(text, Token::from_name).collect();
            assert_eq!(
                hits,
                [Hit {
                    token: Token::Cwd,
                    spelling,
                    range: 0..text.len()
                }],
                "{text}"
            );
        }
    }

    // rows: P-21, P-26; cases: 61
    #[test]
    fn everything_else_is_text() {
        for text in [
            "",
            "{",
            "}",
            "{}",
            "{{}}",
            "{foo}",
            "{ cwd }",
            "{ cwd}",
            "{CWD}",
            "{Cwd}",
            "{cwd",
            "cwd}",
            "{{cwd",
            "{{ cwd \n}}",
            "{{\u{a0}cwd}}",
            "{{~cwd~}}",
            "{{&cwd}}",
            "{{#if cwd}}",
            "{{cwd.x}}",
            "{{cwd | upper}}",
            "{% raw %}",
            "{{constructor}}",
            "{\"pass\": bool}",
            "${{ secrets.X }}",
            "\\{{x}}",
            "{{!-- c --}}",
            "{{\"a\":1}}",
            "{c\u{0}wd}",
            "{cwd\u{301}}",
        ] {
            assert_eq!(found(text), [""; 0], "{text:?}");
        }
    }

    // rows: P-10
    #[test]
    fn unbalanced_braces_go_to_the_longest_spelling_that_closes() {
        for (text, expected) in [
            ("{{cwd}", "cwd@1..6"),
            ("{cwd}}", "cwd@0..5"),
            ("{{{cwd}}", "cwd@1..8"),
            ("{{{{cwd}}}}", "cwd@1..10"),
            ("${{ cwd }}", "cwd@1..10"),
            ("\\{{cwd}}", "cwd@1..8"),
            ("{foo{cwd}}", "cwd@4..9"),
            ("{{ foo {cwd}", "cwd@7..12"),
        ] {
            assert_eq!(found(text), [expected], "{text}");
        }
        assert_eq!(
            found("{cwd}{cwd}{{cwd}}"),
            ["cwd@0..5", "cwd@5..10", "cwd@10..17"]
        );
    }
}
