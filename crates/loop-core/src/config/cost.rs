//! Whether caps on cost and tokens can hold: what is unknown is unknown, never zero.

use super::{Config, HarnessChoice, Role};
use crate::harness::{CalledHarness, Harnesses};
use crate::step;

/// A cap that cannot hold, because a harness uses nobody knows how much.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnknownUse {
    /// The cost of a call is unknown.
    #[error(
        "brakes.max_cost_usd cannot hold: what {role} costs is unknown; set {key} to an estimate, \
         or remove the cap"
    )]
    Cost {
        /// The role whose harness reports no cost.
        role: &'static str,
        /// The path of the key that would say what a call costs.
        key: String,
    },
    /// The tokens of a call are unknown.
    #[error(
        "brakes.max_tokens cannot hold: how many tokens {role} uses is unknown; give {key} a \
         profile that reports them, or remove the cap"
    )]
    Tokens {
        /// The role whose harness reports no tokens.
        role: &'static str,
        /// The path of the key that describes the harness.
        key: String,
    },
}

impl UnknownUse {
    /// Returns the path of the cap that cannot hold.
    #[must_use]
    pub fn cap(&self) -> &'static str {
        match self {
            Self::Cost { .. } => "brakes.max_cost_usd",
            Self::Tokens { .. } => "brakes.max_tokens",
        }
    }
}

impl Config {
    /// Returns the harness that a role is called with; `None` stands for the default command.
    #[must_use]
    pub fn harness_of<'a>(&'a self, role: Option<&'a Role>) -> Option<&'a HarnessChoice> {
        role.and_then(|role| role.harness.as_ref())
            .or_else(|| self.harness())
    }

    /// Returns the path of the key that describes the harness of the role called `name`.
    pub(crate) fn harness_key(&self, name: &str, role: Option<&Role>) -> String {
        if role.is_some_and(|role| role.harness.is_some()) {
            format!("roles.{name}.harness")
        } else {
            "harness".to_owned()
        }
    }

    /// Checks that the caps on cost and tokens, if there are any, can hold.
    ///
    /// # Errors
    ///
    /// [`UnknownUse`] for the first role that is called and whose harness neither reports what it
    /// uses nor has an estimate.
    pub fn caps_enforceable(&self, harnesses: &Harnesses) -> Result<(), UnknownUse> {
        if self.brakes().max_cost().is_some() {
            self.cost_known(harnesses)?;
        }
        if self.brakes().max_tokens().is_some() {
            self.tokens_known(harnesses)?;
        }
        Ok(())
    }

    /// Checks that the cost of every call is known, at least as an estimate.
    pub(super) fn cost_known(&self, harnesses: &Harnesses) -> Result<(), UnknownUse> {
        let priced = |h: &CalledHarness| h.reports_cost() || h.cost_per_call.is_some();
        match self.first_without(harnesses, priced) {
            Some((role, key)) => Err(UnknownUse::Cost {
                role,
                key: format!("{key}.cost_per_call_usd"),
            }),
            None => Ok(()),
        }
    }

    /// Checks that the tokens of every call are known.
    pub(super) fn tokens_known(&self, harnesses: &Harnesses) -> Result<(), UnknownUse> {
        match self.first_without(harnesses, CalledHarness::reports_tokens) {
            Some((role, key)) => Err(UnknownUse::Tokens { role, key }),
            None => Ok(()),
        }
    }

    /// Finds the first role that is called with a harness that is not `known`, and the path of
    /// that harness.
    fn first_without(
        &self,
        harnesses: &Harnesses,
        known: impl Fn(&CalledHarness) -> bool,
    ) -> Option<(&'static str, String)> {
        self.called().find_map(|(name, role, config)| {
            let index = harnesses.of_role(role).iter().position(|h| !known(h))?;
            let key = self.harness_key(name, config);
            Some(match self.harness_of(config) {
                Some(HarnessChoice::Fallbacks(_)) => (name, format!("{key}[{index}]")),
                Some(HarnessChoice::One(_)) | None => (name, key),
            })
        })
    }

    /// Returns the roles for which a harness is called, with their settings.
    fn called(&self) -> impl Iterator<Item = (&'static str, step::Role, Option<&Role>)> {
        let roles = self.roles();
        [
            (step::Role::Plan, roles.plan.as_ref(), roles.plan.is_some()),
            (step::Role::Implement, roles.implement.as_ref(), true),
            (step::Role::Verify, roles.verify.as_ref(), self.has_judge()),
            (
                step::Role::Orchestrate,
                roles.orchestrate.as_ref(),
                roles.orchestrate.is_some(),
            ),
        ]
        .into_iter()
        .filter(|(.., is_called)| *is_called)
        .map(|(role, config, _)| (role.as_str(), role, config))
    }
}
