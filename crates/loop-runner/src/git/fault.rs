//! The error of the git library as a value of our own.

/// Tells what the git library reported, with all its causes in one line.
///
/// The text is for people; what a program has to distinguish is a variant of the operation's own
/// error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct GitFault(String);

impl GitFault {
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

impl From<gix::Error> for GitFault {
    fn from(error: gix::Error) -> Self {
        let mut causes: Vec<String> = Vec::new();
        for cause in error.iter_errors() {
            let text = cause.to_string();
            if !text.is_empty() && causes.last() != Some(&text) {
                causes.push(text);
            }
        }
        Self(causes.join(": "))
    }
}

impl From<std::io::Error> for GitFault {
    fn from(error: std::io::Error) -> Self {
        Self(error.to_string())
    }
}
