//! What the server is to answer, and which step of it comes next.

use super::conversation::Conversation;
use std::collections::HashMap;

/// What is answered, role by role.
#[derive(Clone, Debug, Default)]
pub struct Script {
    roles: Vec<Role>,
    usage: Usage,
}

/// What every answer says that it took, in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Of the prompt, those from a cache included.
    pub input: u64,
    /// Of the prompt, from a cache.
    pub cached: u64,
    /// Of the answer.
    pub output: u64,
}

impl Default for Usage {
    fn default() -> Self {
        Self {
            input: 1000,
            cached: 200,
            output: 50,
        }
    }
}

/// One answer of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Has the agent write a file, by whatever tool it has for that, else by its shell.
    Write {
        /// The file; a relative path is taken as the agent takes it.
        path: String,
        /// All that is to be in it.
        content: String,
    },
    /// Has the agent run a command in its shell.
    Shell(String),
    /// Says something, which ends the agent's turn.
    Say(String),
    /// Refuses, with a status of HTTP.
    Error {
        /// The status: 401, 429, 500, ...
        status: u16,
        /// The seconds in the header `Retry-After`.
        retry_after: Option<u32>,
        /// The words of the error.
        message: String,
        /// After how many requests the next step takes its place; `None` is never.
        times: Option<u32>,
    },
    /// Takes the request and says nothing.
    Hang,
    /// Starts an answer and breaks off in the middle of it.
    Cut,
}

#[derive(Clone, Debug)]
struct Role {
    marker: String,
    steps: Vec<Step>,
}

impl Script {
    /// Makes a script without a role, which answers every conversation with an error.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a role: what is answered when the user's text holds `marker`.
    ///
    /// The newest text of the user is looked at first and the system's last; of
    /// the roles that are in one text, the one that was added first is taken.
    /// The last step is repeated. An [`Step::Error`] is no answer: it stands
    /// before the step that follows it.
    #[must_use]
    pub fn role(mut self, marker: &str, steps: impl IntoIterator<Item = Step>) -> Self {
        self.roles.push(Role {
            marker: marker.to_owned(),
            steps: steps.into_iter().collect(),
        });
        self
    }

    /// Sets what every answer says that it took.
    #[must_use]
    pub const fn usage(mut self, usage: Usage) -> Self {
        self.usage = usage;
        self
    }

    pub(super) const fn tokens(&self) -> Usage {
        self.usage
    }

    /// Returns the step that answers a conversation, or `None` if no role has one for it.
    ///
    /// The step comes from the conversation alone, so that any number of runs
    /// can share a server; only how often an error was given is counted, in `spent`.
    pub(super) fn choose(
        &self,
        conversation: &Conversation,
        spent: &mut Spent,
    ) -> Option<Chosen<'_>> {
        let (index, role) = self.role_of(conversation)?;
        let mut left = conversation.answers_since(&role.marker);
        let mut last = None;
        for (place, step) in role.steps.iter().enumerate() {
            let chosen = Chosen {
                marker: &role.marker,
                place,
                step,
                wants_tools: role.wants_tools(),
            };
            if let Step::Error { times, .. } = step {
                if left == 0 && spent.has_left((index, place), *times) {
                    return Some(chosen);
                }
                continue;
            }
            if left == 0 {
                return Some(chosen);
            }
            left -= 1;
            last = Some(chosen);
        }
        last
    }

    fn role_of(&self, conversation: &Conversation) -> Option<(usize, &Role)> {
        conversation.texts().find_map(|text| {
            let mut roles = self.roles.iter().enumerate();
            roles.find(|(_, role)| text.contains(&role.marker))
        })
    }
}

impl Role {
    fn wants_tools(&self) -> bool {
        let uses_one = |step: &Step| matches!(step, Step::Write { .. } | Step::Shell(_));
        self.steps.iter().any(uses_one)
    }
}

/// A step with its place in the script.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chosen<'a> {
    /// The text that the role is known by.
    pub(super) marker: &'a str,
    /// Which step of the role it is, counted from 0.
    pub(super) place: usize,
    pub(super) step: &'a Step,
    /// Whether any step of the role needs a tool.
    pub(super) wants_tools: bool,
}

/// How often each error was given.
#[derive(Debug, Default)]
pub(super) struct Spent(HashMap<(usize, usize), u32>);

impl Spent {
    fn has_left(&mut self, step: (usize, usize), times: Option<u32>) -> bool {
        let Some(times) = times else { return true };
        let given = self.0.entry(step).or_default();
        let has_left = *given < times;
        *given += u32::from(has_left);
        has_left
    }
}
