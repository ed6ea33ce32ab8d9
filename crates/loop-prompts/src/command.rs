//! Fills in one element of a harness command.
//!
//! The syntax is the prompts' own, so that `{name}` and `{{name}}` mean the same
//! wherever a person writes them. Each element is looked at once, and what was put in
//! is not looked at again: an element stays one element, whatever the prompt holds.

use crate::scan::Scan;
use crate::{Token, Values};

/// A name that a command may mention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CommandToken {
    /// `{prompt}`: the path of the prompt's file.
    Prompt,
    /// `{prompt_content}`: the prompt's text.
    PromptContent,
    /// `{output}`: the path at which the harness may leave its result.
    Output,
    /// `{artifact}`: the path of what implement reported.
    Artifact,
    /// Any token of a prompt, `{cwd}` among them.
    Content(Token),
}

impl CommandToken {
    /// The tokens that only a command has.
    pub const OWN: [Self; 4] = [
        Self::Prompt,
        Self::PromptContent,
        Self::Output,
        Self::Artifact,
    ];

    /// Returns the name between the braces.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Prompt => "prompt",
            Self::PromptContent => "prompt_content",
            Self::Output => "output",
            Self::Artifact => "artifact",
            Self::Content(token) => token.name(),
        }
    }

    /// Returns the token of that exact name.
    pub fn from_name(name: &str) -> Option<Self> {
        let own = Self::OWN.into_iter().find(|token| token.name() == name);
        own.or_else(|| Token::from_name(name).map(Self::Content))
    }

    /// Tells whether an element of a command mentions this token.
    pub fn is_in(self, element: &str) -> bool {
        Scan::new(element, Self::from_name).any(|hit| hit.token == self)
    }
}

/// What stands in for the names in a command.
///
/// ```
/// use loop_prompts::{CommandValues, Role, Token, Values};
///
/// let mut values = Values::for_role(Role::Implement);
/// values.set(Token::Cwd, "/srv/app");
/// let command = CommandValues { prompt_content: "Fix {cwd}", ..CommandValues::new(&values) };
/// assert_eq!(command.fill("--dir={cwd}"), "--dir=/srv/app");
/// assert_eq!(command.fill("{prompt_content}"), "Fix {cwd}");
/// assert_eq!(command.fill("{artifact} {foo}"), "{artifact} {foo}");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct CommandValues<'a> {
    /// The path of the prompt's file, or the bare reference.
    pub prompt: &'a str,
    /// The prompt's text.
    pub prompt_content: &'a str,
    /// Where the harness may leave its result.
    pub output: Option<&'a str>,
    /// What implement reported; for verify.
    pub artifact: Option<&'a str>,
    /// What the role knows.
    pub values: &'a Values<'a>,
}

impl<'a> CommandValues<'a> {
    /// Makes the values of a role whose prompt is empty.
    pub const fn new(values: &'a Values<'a>) -> Self {
        Self {
            prompt: "",
            prompt_content: "",
            output: None,
            artifact: None,
            values,
        }
    }

    /// Fills in one element. A token without a value stays as it was written.
    pub fn fill(&self, element: &str) -> String {
        let mut filled = String::with_capacity(element.len());
        let mut done = 0;
        for hit in Scan::new(element, CommandToken::from_name) {
            let Some(text) = self.get(hit.token) else {
                continue;
            };
            filled.push_str(&element[done..hit.range.start]);
            filled.push_str(text);
            done = hit.range.end;
        }
        filled.push_str(&element[done..]);
        filled
    }

    fn get(&self, token: CommandToken) -> Option<&str> {
        match token {
            CommandToken::Prompt => Some(self.prompt),
            CommandToken::PromptContent => Some(self.prompt_content),
            CommandToken::Output => self.output,
            CommandToken::Artifact => self.artifact,
            CommandToken::Content(token) => self.values.get(token),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Role;

    fn fill(element: &str) -> String {
        let mut values = Values::for_role(Role::Verify);
        values
            .set(Token::Cwd, "/w")
            .set(Token::TaskBrief, "see {output}; {cwd}");
        let command = CommandValues {
            prompt: "/l/outputs/tick1-verify-prompt.md",
            prompt_content: "it's \"x\" $HOME `id` {cwd}\n* ; \\",
            artifact: Some("/l/outputs/tick1-implement-output.md"),
            ..CommandValues::new(&values)
        };
        command.fill(element)
    }

    // rows: H-07, H-09, H-10, H-14..H-16, H-24, H-26, H-29, H-30; cases: 58, 59
    #[test]
    fn values_are_put_in_once_and_stay_whole() {
        for (element, expected) in [
            ("run", "run"),
            ("", ""),
            ("{cwd}", "/w"),
            ("{prompt}", "/l/outputs/tick1-verify-prompt.md"),
            ("{prompt_content}", "it's \"x\" $HOME `id` {cwd}\n* ; \\"),
            ("--m={task_brief}!", "--m=see {output}; {cwd}!"),
            ("{artifact}", "/l/outputs/tick1-implement-output.md"),
            ("{{ cwd }}{cwd}", "/w/w"),
            ("[{artifact_content}]", "[]"),
        ] {
            assert_eq!(fill(element), expected, "{element}");
        }
    }

    // rows: H-21, H-25, H-28
    #[test]
    fn what_has_no_value_stays_as_written() {
        for element in [
            "{output}",
            "{{output}}",
            "{foo}",
            "{P}",
            "{}",
            "{verdict}",
            "{ cwd }",
        ] {
            assert_eq!(fill(element), element);
        }
    }

    #[test]
    fn a_mention_is_a_token_not_a_word() {
        assert!(CommandToken::Output.is_in("--out={output}"));
        assert!(CommandToken::Content(Token::Cwd).is_in("{{cwd}}"));
        assert!(!CommandToken::Output.is_in("output {outputs}"));
        assert_eq!(
            CommandToken::from_name("prompt_content"),
            Some(CommandToken::PromptContent)
        );
    }
}
