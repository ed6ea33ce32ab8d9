//! The acceptance gate on real repositories with real processes.

#![allow(
    clippy::unwrap_used,
    reason = "the lint knows test functions, not their helpers"
)]

#[path = "gate/attack.rs"]
mod attack;
#[path = "gate/cheats.rs"]
mod cheats;
#[path = "gate/checkout.rs"]
mod checkout;
#[path = "gate/fingerprint.rs"]
mod fingerprint;
#[path = "gate/named.rs"]
mod named;
#[path = "gate/products.rs"]
mod products;
#[path = "gate/receipts.rs"]
mod receipts;
#[path = "gate/run.rs"]
mod run;
#[path = "gate/side_doors.rs"]
mod side_doors;
#[path = "gate/window.rs"]
mod window;
#[path = "gate/world.rs"]
mod world;
