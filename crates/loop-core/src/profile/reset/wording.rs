//! The wordings by which providers say when something is over.

use super::Reset;

pub(super) fn find(_text: &str) -> Option<Reset> {
    None
}
