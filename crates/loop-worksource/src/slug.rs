//! Task names from titles.

use crate::hash;

/// The longest slug, in bytes.
const LONGEST: usize = 60;
/// A hyphen and eight hex digits.
const HASH: usize = 9;

/// Turns any text into a task's name: `^[a-z0-9]+(-[a-z0-9]+)*$`, at most 60
/// characters (row S-29).
///
/// Letters are lowered, and every run of anything but `a-z0-9` becomes one
/// hyphen. When that drops a letter or digit, as with a title in another script,
/// or leaves nothing, eight hex digits of the text's SHA-256 follow: two such
/// titles stay two tasks. A slug is its own slug.
///
/// # Examples
///
/// ```
/// use loop_worksource::slugify;
///
/// assert_eq!(slugify("Fix the login!"), "fix-the-login");
/// assert_eq!(slugify("\u{dc}n\u{ef}code"), "n-code-00b24be8");
/// ```
#[must_use]
pub fn slugify(text: &str) -> String {
    let words = text
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join("-")
        .to_ascii_lowercase();
    let dropped = text.chars().any(|c| c.is_alphanumeric() && !c.is_ascii());
    if words.is_empty() {
        return format!("task-{}", hash::hex8([text]));
    }
    if dropped {
        return format!("{}-{}", cut(&words, LONGEST - HASH), hash::hex8([text]));
    }
    cut(&words, LONGEST).to_owned()
}

/// Returns the first `limit` bytes of a slug, without a hyphen at its end.
pub(crate) fn cut(slug: &str, limit: usize) -> &str {
    let end = slug.floor_char_boundary(limit);
    slug[..end].trim_end_matches('-')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name::check_name;
    use proptest::prelude::*;

    // rows: S-24, S-29, U-47
    #[test]
    fn titles_become_names() {
        for (text, slug) in [
            ("Fix Login Bug", "fix-login-bug"),
            ("Fix the login!", "fix-the-login"),
            ("  a__b..c  ", "a-b-c"),
            ("v1.2 -- now", "v1-2-now"),
            ("../../x", "x"),
            ("-rf /", "rf"),
            ("fix \u{1f680} it", "fix-it"),
        ] {
            assert_eq!(slugify(text), slug, "{text:?}");
        }
        assert_eq!(slugify(&"ab ".repeat(40)).len(), 59);
        assert_eq!(slugify(&"a".repeat(99)), "a".repeat(60));
    }

    // rows: S-29
    // cases: 76
    #[test]
    fn what_ascii_cannot_say_is_told_apart_by_a_hash() {
        let slugs = [
            "",
            "!!!",
            "\u{1f680}",
            "\u{417}\u{430}\u{434}\u{430}\u{447}\u{430} 1",
            "\u{417}\u{430}\u{43a}\u{430}\u{437} 1",
            "\u{5d0}\u{5d1}",
        ]
        .map(slugify);
        for slug in &slugs {
            assert_eq!(slugs.iter().filter(|other| *other == slug).count(), 1);
        }
        assert!(slugs[0].starts_with("task-") && slugs[1].starts_with("task-"));
        assert!(slugs[3].starts_with("1-") && slugs[4].starts_with("1-"));
        let long = slugify(&format!("{}\u{e4}", "word ".repeat(30)));
        assert!(long.len() <= 60 && long.starts_with("word-word-"), "{long}");
    }

    proptest! {
        // rows: S-29
        // cases: 150
        #[test]
        fn a_slug_is_a_safe_name_and_its_own_slug(text in any::<String>()) {
            let slug = slugify(&text);
            prop_assert!(slug.len() <= 60);
            prop_assert!(check_name(&slug).is_ok());
            prop_assert!(slug.split('-').all(|word| !word.is_empty()
                && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())));
            prop_assert_eq!(slugify(&slug), slug);
        }
    }
}
