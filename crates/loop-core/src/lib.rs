//! The decisions of a loop, without doing anything: answers in, actions out.
