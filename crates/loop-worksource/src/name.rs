//! Names of tasks, and of the documents in their folders.

/// The longest name, in bytes.
const LONGEST: usize = 128;

/// A name that could lead out of the folder it belongs in, or hide there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{name}` is not a name: it has to start with a letter or digit, and to hold at most \
     {LONGEST} letters, digits, dots, underscores and hyphens"
)]
pub struct InvalidName {
    /// The name as it was given, without what a terminal would act on.
    pub name: String,
}

/// Checks a name that comes from outside: `^[A-Za-z0-9][A-Za-z0-9._-]*$`, at
/// most 128 bytes.
///
/// Such a name is one path component on every file system, never hidden, never
/// an option on a command line, and never `..`.
///
/// # Errors
///
/// [`InvalidName`] for every other text.
pub fn check_name(name: &str) -> Result<(), InvalidName> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let starts = name.starts_with(|c: char| c.is_ascii_alphanumeric());
    if starts && name.len() <= LONGEST && name.chars().all(fits) {
        return Ok(());
    }
    let shown = loop_core::text::without_controls(name);
    Err(InvalidName {
        name: loop_core::text::cut(&shown, LONGEST),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    // cases: 150
    #[test]
    fn a_name_stays_in_its_folder() {
        let longest = "a".repeat(128);
        for name in [
            "a",
            "0",
            "fix-login",
            "add_goal_mode",
            "a..b",
            "v1.2",
            &longest,
        ] {
            assert_eq!(check_name(name), Ok(()), "{name}");
        }
        let too_long = "a".repeat(129);
        for name in [
            "", ".", "..", "../x", "a/b", "/etc/x", "-rf", ".hidden", "a b", "a\0", "a\n",
            "\u{e4}", "a\\b", &too_long,
        ] {
            assert!(check_name(name).is_err(), "{name:?}");
        }
    }

    proptest! {
        // cases: 150
        #[test]
        fn an_accepted_name_is_one_path_component(name in any::<String>()) {
            use std::path::{Component, Path};
            if check_name(&name).is_ok() {
                let parts: Vec<_> = Path::new(&name).components().collect();
                prop_assert_eq!(parts, [Component::Normal(name.as_ref())]);
            }
        }
    }
}
