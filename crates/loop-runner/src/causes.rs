//! Errors in one line, with everything that caused them.

use std::error::Error;

/// Writes an error and its causes in one line; a cause that is told already is
/// not told again.
#[must_use]
pub fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let said = error.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    #[derive(Debug, thiserror::Error)]
    #[error("cannot read it")]
    struct Outer(#[source] io::Error);

    #[test]
    fn each_cause_is_told_once() {
        let outer = Outer(io::Error::other("gone"));
        assert_eq!(with_causes(&outer), "cannot read it: gone");
    }
}
