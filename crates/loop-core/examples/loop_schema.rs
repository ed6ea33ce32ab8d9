//! Prints the JSON Schema of `loop.json`, as it is checked in.

fn main() {
    println!("{:#}", loop_core::config::schema());
}
