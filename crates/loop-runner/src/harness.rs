//! What the configuration says of a role's harness, as processes need it.

use crate::holder::Policy;
use loop_core::Role;
use loop_core::config::{self, Config, Env};
use std::ffi::OsString;

/// Returns what the configuration says of `role`.
#[must_use]
pub fn role_config(config: &Config, role: Role) -> Option<&config::Role> {
    let roles = config.roles();
    match role {
        Role::Plan => roles.plan.as_ref(),
        Role::Implement => roles.implement.as_ref(),
        Role::Verify => roles.verify.as_ref(),
        Role::Orchestrate => roles.orchestrate.as_ref(),
    }
}

/// Returns what an environment gets and loses.
pub(crate) fn policy(env: &Env) -> Policy {
    let names = |names: &Vec<config::VariableName>| {
        names
            .iter()
            .map(|name| OsString::from(name.as_str()))
            .collect()
    };
    Policy {
        set: env
            .set
            .iter()
            .flatten()
            .map(|(name, value)| (name.as_str().into(), value.as_str().into()))
            .collect(),
        unset: env.unset.as_ref().map(names).unwrap_or_default(),
        pass: env.pass.as_ref().map(names),
    }
}
