//! Tests of the store, in one place because they share a rig.

// Only such builds have fault points.
#[cfg(debug_assertions)]
mod crash;
mod disk;
mod foreign;
mod growth;
mod inbox;
mod model;
mod open;
mod planted;
mod request;
mod rig;
mod scan;
mod tick;
mod torn;
