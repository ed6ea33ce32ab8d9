//! The names that a prompt may mention.

use std::fmt;

/// A known token: the only names that a prompt can have replaced.
///
/// Eight come from the seeds. [`Fence`](Self::Fence) is the one addition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Token {
    /// `{task_brief}`: what the task is, from its RESEARCH.md or SPEC.md.
    TaskBrief,
    /// `{acceptance_criteria}`: when it counts as done, one `- item` a line.
    AcceptanceCriteria,
    /// `{next_hint}`: what the last verdict advised; empty on a first attempt.
    NextHint,
    /// `{current_task}`: the task's name.
    CurrentTask,
    /// `{current_phase}`: the phase that the task is in.
    CurrentPhase,
    /// `{verdict}`: the verdict as one line of JSON.
    Verdict,
    /// `{artifact_content}`: the text of what implement reported; empty if there is none.
    ArtifactContent,
    /// `{cwd}`: the directory in which the agent works.
    Cwd,
    /// `{fence}`: sixteen random hexadecimal digits, the same within a tick.
    ///
    /// A prompt puts them on a line before and after text that somebody else wrote,
    /// so that the text cannot pretend to end early.
    Fence,
}

impl Token {
    /// Every token, in the order of the enum.
    pub const ALL: [Self; 9] = [
        Self::TaskBrief,
        Self::AcceptanceCriteria,
        Self::NextHint,
        Self::CurrentTask,
        Self::CurrentPhase,
        Self::Verdict,
        Self::ArtifactContent,
        Self::Cwd,
        Self::Fence,
    ];

    /// Returns the name between the braces.
    pub const fn name(self) -> &'static str {
        match self {
            Self::TaskBrief => "task_brief",
            Self::AcceptanceCriteria => "acceptance_criteria",
            Self::NextHint => "next_hint",
            Self::CurrentTask => "current_task",
            Self::CurrentPhase => "current_phase",
            Self::Verdict => "verdict",
            Self::ArtifactContent => "artifact_content",
            Self::Cwd => "cwd",
            Self::Fence => "fence",
        }
    }

    /// Returns the token of that exact name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|token| token.name() == name)
    }

    /// Returns how much of a value is kept, in tokens of four characters.
    ///
    /// `None` means whole: a judge must not grade a torn artifact.
    pub const fn limit(self) -> Option<usize> {
        match self {
            Self::TaskBrief => Some(4000),
            Self::AcceptanceCriteria => Some(2000),
            Self::NextHint => Some(1000),
            _ => None,
        }
    }

    /// Tells whether the token is replaced by nothing, not left as written, when it
    /// has no value.
    pub(crate) const fn is_empty_by_default(self) -> bool {
        matches!(
            self,
            Self::ArtifactContent | Self::CurrentTask | Self::CurrentPhase
        )
    }
}

impl fmt::Display for Token {
    /// Writes the token as a prompt spells it, braces included.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{}}}", self.name())
    }
}

/// The value of [`Token::Fence`] in one tick.
///
/// The digits come from the caller, because this crate has no source of randomness
/// and a recorded tick must be renderable again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fence(u64);

impl Fence {
    /// The fence of a preview: all zeros, so that nobody takes it for a real one.
    pub const PREVIEW: Self = Self(0);

    /// Makes the fence that writes `bits` as hexadecimal digits.
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }
}

impl fmt::Display for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // rows: P-08, P-09, P-44
    #[test]
    fn the_names_are_the_seeds_and_the_fence() {
        let names = Token::ALL.map(Token::name);
        assert_eq!(
            names,
            [
                "task_brief",
                "acceptance_criteria",
                "next_hint",
                "current_task",
                "current_phase",
                "verdict",
                "artifact_content",
                "cwd",
                "fence"
            ]
        );
        for (index, token) in Token::ALL.into_iter().enumerate() {
            assert_eq!(token as usize, index);
            assert_eq!(Token::from_name(token.name()), Some(token));
        }
        assert_eq!(Token::from_name("tick"), None);
        assert_eq!(Token::from_name("Verdict"), None);
    }

    // rows: P-44
    #[test]
    fn a_fence_is_sixteen_hexadecimal_digits() {
        assert_eq!(
            Fence::from_bits(0xdead_beef).to_string(),
            "00000000deadbeef"
        );
        assert_eq!(Fence::PREVIEW.to_string(), "0".repeat(16));
    }

    // rows: K-12, K-18
    #[test]
    fn only_brief_criteria_and_hint_have_a_limit() {
        let limited: Vec<_> = Token::ALL
            .into_iter()
            .filter_map(|t| Some((t.name(), t.limit()?)))
            .collect();
        assert_eq!(
            limited,
            [
                ("task_brief", 4000),
                ("acceptance_criteria", 2000),
                ("next_hint", 1000)
            ]
        );
    }
}
