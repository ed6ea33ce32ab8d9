//! Whether a cost cap can hold: an unknown cost is unknown, never zero.

use super::{Config, HarnessChoice, Role};

/// A cost cap that cannot hold, because a harness costs nobody knows what.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "brakes.max_cost_usd cannot hold: what {role} costs is unknown; set {key} to an estimate, or \
     remove the cap"
)]
#[non_exhaustive]
pub struct UnknownCost {
    /// The role whose harness reports no cost.
    pub role: &'static str,
    /// The path of the key that would say what a call costs.
    pub key: String,
}

impl Config {
    /// Returns the harness that a role is called with; `None` stands for the default command.
    #[must_use]
    pub fn harness_of<'a>(&'a self, role: Option<&'a Role>) -> Option<&'a HarnessChoice> {
        role.and_then(|role| role.harness.as_ref())
            .or_else(|| self.harness())
    }

    /// Checks that a cost cap, if there is one, can hold.
    ///
    /// # Errors
    ///
    /// [`UnknownCost`] for the first role that is called and whose harness has no estimate.
    pub fn cost_enforceable(&self) -> Result<(), UnknownCost> {
        match self.brakes().max_cost() {
            Some(_) => self.cost_known(),
            None => Ok(()),
        }
    }

    /// Checks that the cost of every call is known, at least as an estimate.
    pub(super) fn cost_known(&self) -> Result<(), UnknownCost> {
        self.called().try_for_each(|(name, role)| {
            let own = role.is_some_and(|role| role.harness.is_some());
            let place = if own {
                format!("roles.{name}.harness")
            } else {
                "harness".to_owned()
            };
            match self
                .harness_of(role)
                .map_or(Some(String::new()), without_cost)
            {
                Some(step) => Err(UnknownCost {
                    role: name,
                    key: format!("{place}{step}.cost_per_call_usd"),
                }),
                None => Ok(()),
            }
        })
    }

    /// Returns the roles for which a harness is called, with their settings.
    fn called(&self) -> impl Iterator<Item = (&'static str, Option<&Role>)> {
        self.roles().all().filter(|(name, role)| match *name {
            "implement" => true,
            "verify" => self.has_judge(),
            _ => role.is_some(),
        })
    }
}

/// Finds the first harness without an estimate; the answer is its step in the path.
fn without_cost(choice: &HarnessChoice) -> Option<String> {
    let has_cost = |harness: &super::HarnessRef| {
        harness
            .described()
            .is_some_and(|h| h.cost_per_call().is_some())
    };
    let index = choice
        .as_slice()
        .iter()
        .position(|harness| !has_cost(harness))?;
    Some(match choice {
        HarnessChoice::One(_) => String::new(),
        HarnessChoice::Fallbacks(_) => format!("[{index}]"),
    })
}
