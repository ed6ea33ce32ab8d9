//! Takes secrets out of a text that leaves the machine.

/// What stands in a secret's place.
pub const REDACTED: &str = "[redacted]";

/// The shortest value that is taken for a secret, in bytes: `KEY=on` must not
/// take every "on" out of a sentence.
const SHORTEST: usize = 6;
/// A part of a secret of several lines is one from this length on, in bytes.
const SHORTEST_LINE: usize = 16;

/// Parts of the names of variables whose values are secrets.
const NAMES: [&str; 6] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL"];

/// How keys begin that are known by their shape, and how many more characters a
/// word needs at least to be one.
const SHAPES: [(&str, usize); 19] = [
    ("sk-", 16),
    ("sk_live_", 16),
    ("sk_test_", 16),
    ("rk_live_", 16),
    ("ghp_", 20),
    ("gho_", 20),
    ("ghu_", 20),
    ("ghs_", 20),
    ("ghr_", 20),
    ("github_pat_", 20),
    ("glpat-", 16),
    ("xox", 16),
    ("xapp-", 16),
    ("AKIA", 16),
    ("ASIA", 16),
    ("AIza", 30),
    ("npm_", 30),
    ("hf_", 20),
    // A signed token: its header is always this, in Base64.
    ("eyJ", 24),
];

/// The values that must not leave the machine.
#[derive(Clone, Debug, Default)]
pub struct Secrets {
    /// The longest first, so that none is cut by a part of it.
    values: Vec<String>,
}

impl Secrets {
    /// Takes the values of the variables whose names look like those of secrets.
    pub fn of<'a>(variables: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut values = Vec::new();
        for (name, value) in variables {
            if !Self::is_secret(name) {
                continue;
            }
            let value = value.trim();
            if value.len() >= SHORTEST {
                values.push(value.to_owned());
            }
            let lines = value.lines().map(str::trim);
            values.extend(
                lines
                    .filter(|line| line.len() >= SHORTEST_LINE)
                    .map(str::to_owned),
            );
        }
        values.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        values.dedup();
        Self { values }
    }

    /// Whether a variable of this name holds a secret.
    #[must_use]
    pub fn is_secret(name: &str) -> bool {
        let name = name.to_ascii_uppercase();
        NAMES.iter().any(|part| name.contains(part))
    }

    /// Returns `text` without the secrets: the known values, words in the shape of
    /// a key, and what stands before the host in an address.
    #[must_use]
    pub fn redact(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for value in &self.values {
            if text.contains(value.as_str()) {
                text = text.replace(value.as_str(), REDACTED);
            }
        }
        without_passwords(&without_keys(&text))
    }
}

/// Replaces the words that look like a key.
fn without_keys(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(is_of_key) {
        let (before, word) = rest.split_at(start);
        let end = word.find(|c| !is_of_key(c)).unwrap_or(word.len());
        let (word, after) = word.split_at(end);
        out.push_str(before);
        out.push_str(if is_key(word) { REDACTED } else { word });
        rest = after;
    }
    out.push_str(rest);
    out
}

fn is_of_key(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')
}

fn is_key(word: &str) -> bool {
    SHAPES.iter().any(|(prefix, more)| {
        let rest = word.strip_prefix(prefix);
        rest.is_some_and(|rest| rest.len() >= *more)
    })
}

/// Replaces `user:password` in addresses such as `https://user:password@host`.
fn without_passwords(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        out.push_str(before);
        let ends = |c: char| c.is_whitespace() || matches!(c, '/' | '?' | '#' | '"' | '\'');
        let end = after.find(ends).unwrap_or(after.len());
        rest = after;
        if let Some(host) = after[..end].rfind('@') {
            out.push_str(REDACTED);
            rest = &after[host..];
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const KEY: &str = "sk-Zm9vYmFyYmF6cXV4MTIz";

    // cases: 148, 158
    #[test]
    fn what_is_secret_is_taken_out_and_the_sentence_stays() {
        let secrets = Secrets::of([
            ("API_KEY", "hunter2hunter2"),
            ("my_password", "correct horse"),
            ("SSH_KEY", "-----BEGIN-----\nAAAAB3NzaC1yc2EAAAADAQAB\n"),
            ("SHORT_TOKEN", "on"),
            ("EDITOR", "emacsclient"),
        ]);
        for (text, told) in [
            ("401 for hunter2hunter2!", "401 for [redacted]!"),
            ("use correct horse", "use [redacted]"),
            ("AAAAB3NzaC1yc2EAAAADAQAB", "[redacted]"),
            ("on and on with emacsclient", "on and on with emacsclient"),
            ("ghp_0123456789abcdefghijABCDEFGHIJ", "[redacted]"),
            ("AKIAABCDEFGHIJKLMNOP,", "[redacted],"),
            ("sk-short ghp_ AKIA", "sk-short ghp_ AKIA"),
            (
                "fetch https://ada:pw@example.org/x failed",
                "fetch https://[redacted]@example.org/x failed",
            ),
            ("mail ada@example.org", "mail ada@example.org"),
            (
                "see https://example.org/@ada",
                "see https://example.org/@ada",
            ),
        ] {
            assert_eq!(secrets.redact(text), told, "{text}");
        }
        assert_eq!(
            secrets.redact(&format!("key={KEY} \"{KEY}\"")),
            "key=[redacted] \"[redacted]\""
        );
    }

    #[test]
    fn names_are_known_in_any_case() {
        for name in [
            "OPENROUTER_API_KEY",
            "gh_token",
            "ClientSecret",
            "PGPASSWORD",
        ] {
            assert!(Secrets::is_secret(name), "{name}");
        }
        for name in ["PATH", "HOME", "LANG", "EDITOR"] {
            assert!(!Secrets::is_secret(name), "{name}");
        }
    }

    proptest! {
        // cases: 65
        #[test]
        fn no_value_is_left_wherever_it_stands(
            before in any::<String>(),
            after in any::<String>(),
            secret in "[!-~]{6,40}",
        ) {
            let secrets = Secrets::of([("X_TOKEN", secret.as_str())]);
            let told = secrets.redact(&format!("{before}{secret}{after}"));
            // What is put in its place may hold a short secret such as "redact".
            prop_assume!(!REDACTED.contains(&secret));
            prop_assert!(!told.replace(REDACTED, "\n").contains(&secret), "{}", told);
        }

        #[test]
        fn a_text_without_secrets_is_left_alone(text in "[a-z ,.]{0,200}") {
            prop_assert_eq!(Secrets::default().redact(&text), text);
        }
    }
}
