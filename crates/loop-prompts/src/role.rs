//! The roles that a prompt is written for, and what each may see.

use std::fmt;
use std::str::FromStr;

use crate::Token;

/// A part that an agent plays in a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Turns a task into a plan and a gate.
    Plan,
    /// Does the work.
    Implement,
    /// Judges the work.
    Verify,
    /// Asks for the status operation that follows from the verdict.
    Orchestrate,
}

impl Role {
    /// Every role, in the order in which a tick may call them.
    pub const ALL: [Self; 4] = [Self::Plan, Self::Implement, Self::Verify, Self::Orchestrate];

    /// Returns the name that file names and configuration use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Implement => "implement",
            Self::Verify => "verify",
            Self::Orchestrate => "orchestrate",
        }
    }

    /// Tells whether this role can have a value for `token`.
    ///
    /// The brief, the criteria and the hint are for those who do the work and those
    /// who judge it; the verdict is for the one who acts on it. A planner has no
    /// phase and no hint, because nothing has been tried yet.
    pub const fn sees(self, token: Token) -> bool {
        match token {
            Token::Cwd | Token::Fence | Token::CurrentTask => true,
            Token::CurrentPhase => !matches!(self, Self::Plan),
            Token::TaskBrief | Token::AcceptanceCriteria => !matches!(self, Self::Orchestrate),
            Token::NextHint => matches!(self, Self::Implement | Self::Verify),
            Token::ArtifactContent => matches!(self, Self::Verify),
            Token::Verdict => matches!(self, Self::Orchestrate),
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The error of parsing a [`Role`] from its name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown role `{name}`, expected plan, implement, verify or orchestrate")]
pub struct UnknownRole {
    /// What was given.
    pub name: String,
}

impl FromStr for Role {
    type Err = UnknownRole;

    fn from_str(name: &str) -> Result<Self, UnknownRole> {
        Self::ALL
            .into_iter()
            .find(|role| role.name() == name)
            .ok_or_else(|| UnknownRole {
                name: name.to_owned(),
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(role: Role) -> Vec<&'static str> {
        Token::ALL
            .into_iter()
            .filter(|t| role.sees(*t))
            .map(Token::name)
            .collect()
    }

    // rows: K-20, P-44
    #[test]
    fn each_role_sees_its_own_tokens_and_no_others() {
        assert_eq!(
            seen(Role::Plan),
            [
                "task_brief",
                "acceptance_criteria",
                "current_task",
                "cwd",
                "fence"
            ]
        );
        assert_eq!(
            seen(Role::Implement),
            [
                "task_brief",
                "acceptance_criteria",
                "next_hint",
                "current_task",
                "current_phase",
                "cwd",
                "fence"
            ]
        );
        assert_eq!(
            seen(Role::Verify),
            [
                "task_brief",
                "acceptance_criteria",
                "next_hint",
                "current_task",
                "current_phase",
                "artifact_content",
                "cwd",
                "fence"
            ]
        );
        assert_eq!(
            seen(Role::Orchestrate),
            ["current_task", "current_phase", "verdict", "cwd", "fence"]
        );
    }

    #[test]
    fn names_round_trip() {
        for role in Role::ALL {
            assert_eq!(role.to_string().parse(), Ok(role));
        }
        assert!("verifier".parse::<Role>().is_err());
    }
}
