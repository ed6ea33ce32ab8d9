//! A path or a pattern, as the configuration has them.

use super::matching::{Unit, matches_name};
use std::fmt;

/// The characters that make a path a pattern.
const GLOB: [char; 3] = ['*', '?', '['];

/// A path or a pattern below the project, which covers itself and everything below what it matches.
///
/// Parts are compared one by one, so that `scripts` is the same as `scripts/` and does not cover
/// `scripts-old/a`. In a part, `*` stands for any text, `?` for one character, and `[a-z]`, `[!a-z]`
/// for one of a set; none of them crosses a `/`. A part `**` stands for any number of folders, none
/// included. Upper and lower case differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    text: String,
    parts: Vec<Part>,
}

/// A text that is no pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the pattern {text:?} has a \"[\" without its \"]\"; write \"[[]\" for the character")]
pub struct InvalidPattern {
    text: String,
}

/// What stands between two `/`.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    /// Any number of folders.
    Folders,
    /// One name.
    Name(Vec<Unit>),
}

impl Pattern {
    /// Reads a path or pattern; empty parts and those that are `.` do not count.
    ///
    /// # Errors
    ///
    /// [`InvalidPattern`] when a set of characters has no end.
    pub fn new(text: &str) -> Result<Self, InvalidPattern> {
        let mut parts = Vec::new();
        for part in text.split('/') {
            match part {
                "" | "." => {}
                // A second one would add nothing but work.
                "**" if parts.last() == Some(&Part::Folders) => {}
                "**" => parts.push(Part::Folders),
                name => {
                    let units = Unit::parse(name).ok_or_else(|| InvalidPattern {
                        text: text.to_owned(),
                    })?;
                    parts.push(Part::Name(units));
                }
            }
        }
        Ok(Self {
            text: text.to_owned(),
            parts,
        })
    }

    /// Returns the text that was read.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Tells whether this names one path, without any character that stands for others.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        !self.text.contains(GLOB)
    }

    /// Returns the folder or file that everything this matches is in, relative to the project:
    /// the parts before the first with a special character. It is empty for the project itself.
    #[must_use]
    pub fn base(&self) -> String {
        let counts = |part: &&str| !matches!(*part, "" | ".");
        let parts = self.text.split('/').filter(counts);
        let plain: Vec<_> = parts.take_while(|part| !part.contains(GLOB)).collect();
        plain.join("/")
    }

    /// Tells whether `path`, relative to the project, is covered.
    ///
    /// A path that leads out with `..` is covered by nothing. The time is at most proportional to
    /// the product of the two lengths.
    #[must_use]
    pub fn matches(&self, path: &[u8]) -> bool {
        let names = || {
            path.split(|byte| *byte == b'/')
                .filter(|name| !name.is_empty() && *name != b".")
        };
        if names().any(|name| name == b"..") {
            return false;
        }
        let mut reached = Reached::start(&self.parts);
        // What is below something that matches is covered with it.
        names().any(|name| reached.step(&self.parts, name)) || self.parts.is_empty()
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Up to which parts of a pattern the beginning of a path reaches.
struct Reached(Vec<bool>);

impl Reached {
    fn start(parts: &[Part]) -> Self {
        let mut reached = vec![false; parts.len() + 1];
        reached[0] = true;
        Self(reached).skip_folders(parts)
    }

    /// Goes on by one name; tells whether the whole pattern was matched.
    fn step(&mut self, parts: &[Part], name: &[u8]) -> bool {
        let mut next = vec![false; parts.len() + 1];
        for (at, part) in parts.iter().enumerate().filter(|(at, _)| self.0[*at]) {
            match part {
                Part::Folders => next[at] = true,
                Part::Name(units) => next[at + 1] |= matches_name(units, name),
            }
        }
        *self = Self(next).skip_folders(parts);
        self.0.last() == Some(&true)
    }

    /// Lets each `**` stand for no folder too.
    fn skip_folders(mut self, parts: &[Part]) -> Self {
        for (at, part) in parts.iter().enumerate() {
            self.0[at + 1] |= self.0[at] && *part == Part::Folders;
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    // rows
    // cases: 89, 96, 121
    #[test]
    fn what_a_pattern_covers() {
        for (pattern, covered, not_covered) in [
            (
                "scripts",
                &["scripts", "scripts/a", "scripts/a/b"][..],
                &["scripts-old/a", "script", "Scripts/a", "a/scripts"][..],
            ),
            ("scripts/", &["scripts", "scripts/a"], &["scripts-old/a"]),
            ("./a//b", &["a/b", "a/b/c"], &["a", "b"]),
            (".", &["a", "a/b"], &["..", "../a", "a/../../b"]),
            ("*", &["a", ".env", "a/b"], &[]),
            ("*.rs", &["a.rs", ".rs"], &["a/b.rs", "a.rsx"]),
            ("a/*.rs", &["a/b.rs", "a/b.rs/c"], &["a/b/c.rs", "b.rs"]),
            ("a/*", &["a/b", "a/b/c"], &["a", "ab"]),
            ("**/b", &["b", "a/b", "a/a/b/c"], &["ab", "a/bc"]),
            ("a/**", &["a", "a/b", "a/b/c"], &["ab", "b/a"]),
            ("a/**/**/d", &["a/d", "a/b/c/d"], &["a", "d"]),
            ("**", &["a", "a/b"], &["../a"]),
            ("a**c", &["abbc", "ac"], &["a/c"]),
            ("?", &["a", "\u{e4}"], &["ab", ""]),
            ("[a-c]x", &["ax", "cx/d"], &["dx", "a"]),
            ("[!a-c]x", &["dx", "\u{e4}x"], &["ax"]),
            ("[^a]", &["b"], &["a"]),
            ("[]a]", &["]", "a"], &["b"]),
            ("[[]", &["["], &["[["]),
            ("[a-]", &["-", "a"], &["b"]),
            ("{a,b}", &["{a,b}"], &["a"]),
            ("a b\u{e4}", &["a b\u{e4}/c"], &["a b"]),
        ] {
            let read = Pattern::new(pattern).unwrap();
            for path in covered {
                assert!(read.matches(path.as_bytes()), "{pattern} covers {path}");
            }
            for path in not_covered {
                assert!(!read.matches(path.as_bytes()), "{pattern} and {path}");
            }
        }
    }

    // rows: X-15
    #[test]
    fn names_need_not_be_text() {
        for (pattern, path, covered) in [
            ("a*", &b"a\xff\xfe"[..], true),
            ("a?", b"a\xff", true),
            ("a?", b"a\xff\xfe", false),
            ("a[!b]", b"a\xff", true),
            ("a[b]", b"a\xff", false),
            ("a", b"a/\xff", true),
        ] {
            let read = Pattern::new(pattern).unwrap();
            assert_eq!(read.matches(path), covered, "{pattern} {path:?}");
        }
    }

    #[test]
    fn the_base_has_no_special_character() {
        for (pattern, base, is_plain) in [
            ("a/b/", "a/b", true),
            ("./a/b*/c", "a", false),
            ("**/x", "", false),
            ("a/[b]/c", "a", false),
            (".", "", true),
        ] {
            let read = Pattern::new(pattern).unwrap();
            assert_eq!(read.base(), base, "{pattern}");
            assert_eq!(read.is_plain(), is_plain, "{pattern}");
        }
        for broken in ["a[", "a[b", "[]", "[!]", "a[/]b"] {
            assert!(Pattern::new(broken).is_err(), "{broken}");
        }
    }

    /// The plain definition, which tries every way: exponential, and so only for short texts.
    fn defined(pattern: &[char], name: &[char]) -> bool {
        match pattern {
            [] => name.is_empty(),
            ['*', rest @ ..] => (0..=name.len()).any(|at| defined(rest, &name[at..])),
            ['?', rest @ ..] => !name.is_empty() && defined(rest, &name[1..]),
            [one, rest @ ..] => name.first() == Some(one) && defined(rest, &name[1..]),
        }
    }

    proptest! {
        #[test]
        fn a_name_matches_as_defined(pattern in "[ab*?]{1,8}", name in "[ab]{1,10}") {
            prop_assume!(pattern != "**");
            let chars = |text: &str| text.chars().collect::<Vec<_>>();
            let expected = defined(&chars(&pattern), &chars(&name));
            let read = Pattern::new(&pattern).unwrap();
            prop_assert_eq!(read.matches(name.as_bytes()), expected);
        }

        // Done by trying every way, one of these would outlast any test.
        #[test]
        fn no_pattern_takes_for_ever(stars in 1..400_usize, letters in 0..4000_usize, folders in 1..60_usize) {
            let name = "a".repeat(letters);
            let pattern = Pattern::new(&format!("{}b", "a*".repeat(stars))).unwrap();
            prop_assert!(!pattern.matches(name.as_bytes()));
            let pattern = Pattern::new(&format!("{}b", "**/a/".repeat(folders))).unwrap();
            prop_assert!(!pattern.matches("a/".repeat(letters / 4).as_bytes()));
        }

        #[test]
        fn a_path_covers_itself_and_what_is_below(path in "[a-z. ]{1,5}(/[a-z. ]{1,5}){0,3}", below in "[a-z]{1,3}") {
            prop_assume!(path.split('/').all(|part| part != ".."));
            let pattern = Pattern::new(&path).unwrap();
            prop_assert!(pattern.matches(path.as_bytes()));
            let child = format!("{path}/{below}");
            prop_assert!(pattern.matches(child.as_bytes()));
        }

        #[test]
        fn any_text_and_any_path_are_taken(text in ".{0,40}", path in prop::collection::vec(any::<u8>(), 0..40)) {
            if let Ok(pattern) = Pattern::new(&text) {
                let _either = pattern.matches(&path);
            }
        }
    }
}
