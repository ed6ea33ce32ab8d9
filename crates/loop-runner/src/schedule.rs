//! When loops tick by themselves.

pub mod zone;
