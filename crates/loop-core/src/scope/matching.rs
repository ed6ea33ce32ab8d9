//! One name against one part of a pattern.

/// What stands for one character, or for any number of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// This character.
    Char(char),
    /// Any one character.
    One,
    /// Any number of characters.
    Any,
    /// A character in one of these ranges, or in none of them.
    Set {
        /// Whether it has to be in none.
        is_negated: bool,
        /// First and last characters.
        ranges: Vec<(char, char)>,
    },
}

impl Unit {
    /// Reads one part of a pattern; `None` when a set has no end.
    pub(super) fn parse(part: &str) -> Option<Vec<Self>> {
        let mut units = Vec::new();
        let mut rest = part.chars();
        while let Some(c) = rest.next() {
            units.push(match c {
                '*' => Self::Any,
                '?' => Self::One,
                '[' => {
                    let (set, after) = Self::set(rest.as_str())?;
                    rest = after.chars();
                    set
                }
                c => Self::Char(c),
            });
        }
        units.dedup_by(|a, b| *a == Self::Any && *b == Self::Any);
        Some(units)
    }

    /// Reads a set behind its `[`, and returns what follows its `]`.
    fn set(text: &str) -> Option<(Self, &str)> {
        let inside = text.strip_prefix(['!', '^']);
        let is_negated = inside.is_some();
        let mut chars = inside.unwrap_or(text).chars();
        let mut ranges = Vec::new();
        loop {
            match chars.next()? {
                // The first one stands for itself: an empty set would match nothing.
                ']' if !ranges.is_empty() => break,
                first => {
                    let last = end_of_range(chars.as_str());
                    if last.is_some() {
                        chars.nth(1);
                    }
                    ranges.push((first, last.unwrap_or(first)));
                }
            }
        }
        Some((Self::Set { is_negated, ranges }, chars.as_str()))
    }

    /// Tells whether one character, or one byte that is not text, is meant.
    fn takes(&self, c: Option<char>) -> bool {
        match self {
            Self::Any => false,
            Self::One => true,
            Self::Char(wanted) => c == Some(*wanted),
            Self::Set { is_negated, ranges } => {
                let is_in = |c: char| ranges.iter().any(|(a, z)| (*a..=*z).contains(&c));
                c.is_some_and(is_in) != *is_negated
            }
        }
    }
}

/// The last character of a range, when `rest` goes on with `-` and one.
fn end_of_range(rest: &str) -> Option<char> {
    rest.strip_prefix('-')?.chars().next().filter(|c| *c != ']')
}

/// Tells whether a name is one that the units describe.
///
/// When something does not fit, only the latest [`Unit::Any`] takes one more character. Whatever an
/// earlier one could take, the later one can too.
pub(super) fn matches_name(units: &[Unit], name: &[u8]) -> bool {
    let (mut unit, mut at) = (0, 0);
    let mut retry = None;
    while at < name.len() {
        let (c, length) = first_char(&name[at..]);
        match units.get(unit) {
            Some(Unit::Any) => {
                retry = Some((unit + 1, at));
                unit += 1;
            }
            Some(wanted) if wanted.takes(c) => {
                unit += 1;
                at += length;
            }
            _ => {
                let Some((after, from)) = retry else {
                    return false;
                };
                let from = from + first_char(&name[from..]).1;
                retry = Some((after, from));
                (unit, at) = (after, from);
            }
        }
    }
    units[unit..].iter().all(|unit| *unit == Unit::Any)
}

/// The first character and its length in bytes; a byte that is not text is none.
fn first_char(bytes: &[u8]) -> (Option<char>, usize) {
    // No character is longer than four bytes.
    let start = &bytes[..bytes.len().min(4)];
    let text = start.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    match text.chars().next() {
        Some(c) => (Some(c), c.len_utf8()),
        None => (None, 1),
    }
}
