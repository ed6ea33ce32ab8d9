//! Tests of the store, in one place because they share a rig.

mod inbox;
mod model;
mod rig;
mod tick;
mod torn;
