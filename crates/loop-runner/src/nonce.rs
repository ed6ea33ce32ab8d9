//! Random numbers that need not be secret for long.

use std::hash::{BuildHasher, Hasher, RandomState};

/// Returns 64 random bits. The keys of a hasher come from the system's source
/// of randomness, which is all that a fence or a file name needs.
pub(crate) fn random_bits() -> u64 {
    RandomState::new().build_hasher().finish()
}
