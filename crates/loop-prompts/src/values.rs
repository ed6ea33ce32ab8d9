//! What a role knows: the texts that stand in for tokens.

use std::borrow::Cow;

use crate::truncate::{Cut, truncate};
use crate::{Role, Token};

/// The token map of one role in one tick.
///
/// Everything that the seeds say about values is applied on the way in, so that a
/// driver can offer all it knows to every role alike: what the role may not see is
/// dropped, what is too long is cut, and `{artifact_content}`, `{current_task}` and
/// `{current_phase}` are empty until they are set. Any other token without a value
/// stays in the prompt as it was written, because a visible `{verdict}` shows a
/// mistake and a hole hides it.
///
/// ```
/// use loop_prompts::{Role, Token, Values};
///
/// let mut values = Values::for_role(Role::Implement);
/// values.set(Token::NextHint, "run the linter").set(Token::Verdict, "not for you");
/// assert_eq!(values.get(Token::NextHint), Some("run the linter"));
/// assert_eq!(values.get(Token::CurrentTask), Some(""));
/// assert_eq!(values.get(Token::Verdict), None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Values<'v> {
    role: Option<Role>,
    texts: [Option<Cow<'v, str>>; Token::ALL.len()],
    cuts: [Option<Cut>; Token::ALL.len()],
}

impl<'v> Values<'v> {
    /// Makes the map of a role, which takes only what the role may see.
    pub fn for_role(role: Role) -> Self {
        Self::new(Some(role))
    }

    /// Makes a map that takes every token, for prompts outside a loop.
    pub fn unrestricted() -> Self {
        Self::new(None)
    }

    fn new(role: Option<Role>) -> Self {
        let texts = Token::ALL.map(|token| {
            let seen = token == Token::ArtifactContent || role.is_none_or(|r| r.sees(token));
            (seen && token.is_empty_by_default()).then_some(Cow::Borrowed(""))
        });
        Self {
            role,
            texts,
            cuts: [None; Token::ALL.len()],
        }
    }

    /// Gives `token` a text, replacing what it had.
    ///
    /// Does nothing if the role may not see the token. The text is inert: nothing in
    /// it is ever taken for a token.
    pub fn set(&mut self, token: Token, text: impl Into<Cow<'v, str>>) -> &mut Self {
        if self.role.is_none_or(|role| role.sees(token)) {
            let (text, cut) = match token.limit() {
                Some(max_tokens) => truncate(text, max_tokens),
                None => (text.into(), None),
            };
            self.texts[token as usize] = Some(text);
            self.cuts[token as usize] = cut;
        }
        self
    }

    /// Returns the text of a token, or `None` if the prompt is to keep it as written.
    pub fn get(&self, token: Token) -> Option<&str> {
        self.texts[token as usize].as_deref()
    }

    /// Returns the role whose map this is; `None` if it is unrestricted.
    pub fn role(&self) -> Option<Role> {
        self.role
    }

    /// Lists the values that were cut, and by how much.
    pub fn cuts(&self) -> impl Iterator<Item = (Token, Cut)> + '_ {
        Token::ALL
            .into_iter()
            .filter_map(|token| Some((token, self.cuts[token as usize]?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full(role: Role) -> Values<'static> {
        let mut values = Values::for_role(role);
        for token in Token::ALL {
            values.set(token, token.name());
        }
        values
    }

    // rows: K-20, K-09, U-50
    #[test]
    fn a_role_gets_what_it_may_see() {
        for role in Role::ALL {
            for token in Token::ALL {
                let expected = match (role.sees(token), token) {
                    (true, _) => Some(token.name()),
                    (false, Token::ArtifactContent) => Some(""),
                    (false, _) => None,
                };
                assert_eq!(full(role).get(token), expected, "{role} {token}");
            }
        }
    }

    // rows: P-13, P-36, P-27
    #[test]
    fn what_is_not_set_is_empty_or_absent() {
        let values = Values::for_role(Role::Verify);
        for token in [
            Token::ArtifactContent,
            Token::CurrentTask,
            Token::CurrentPhase,
        ] {
            assert_eq!(values.get(token), Some(""));
        }
        for token in [Token::TaskBrief, Token::NextHint, Token::Cwd, Token::Fence] {
            assert_eq!(values.get(token), None);
        }
        assert_eq!(Values::for_role(Role::Plan).get(Token::CurrentPhase), None);
    }

    // rows: K-12, K-18
    #[test]
    fn limits_apply_on_the_way_in() {
        let long = "x".repeat(100_000);
        let mut values = Values::for_role(Role::Verify);
        for token in Token::ALL {
            values.set(token, long.as_str());
        }
        let length = |token| values.get(token).map(str::len);
        assert_eq!(length(Token::TaskBrief), Some(16_015));
        assert_eq!(length(Token::AcceptanceCriteria), Some(8_015));
        assert_eq!(length(Token::NextHint), Some(4_015));
        for whole in [
            Token::ArtifactContent,
            Token::CurrentTask,
            Token::CurrentPhase,
        ] {
            assert_eq!(length(whole), Some(100_000));
        }
        let dropped: Vec<_> = values.cuts().map(|(t, cut)| (t, cut.dropped)).collect();
        assert_eq!(
            dropped,
            [
                (Token::TaskBrief, 84_000),
                (Token::AcceptanceCriteria, 92_000),
                (Token::NextHint, 96_000)
            ]
        );
    }

    #[test]
    fn setting_again_forgets_the_cut() {
        let mut values = Values::unrestricted();
        values
            .set(Token::NextHint, "y".repeat(5_000))
            .set(Token::NextHint, "short");
        assert_eq!(values.get(Token::NextHint), Some("short"));
        assert_eq!(values.cuts().count(), 0);
    }
}
