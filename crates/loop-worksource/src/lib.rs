//! Where a loop finds its next piece of work.
