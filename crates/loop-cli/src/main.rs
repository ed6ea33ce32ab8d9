//! The `loop` command: arguments in, text or JSON out.
fn main() {}
