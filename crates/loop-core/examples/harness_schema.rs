//! Prints the JSON Schema of harness profiles, as it is checked in.

fn main() {
    println!("{:#}", loop_core::profile::schema());
}
