//! What a step becomes for one agent: words, or a call of a tool that it has.

use super::conversation::{Conversation, Tool};
use super::script::Step;
use serde_json::{Map, Value, json};

/// What the model does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Act {
    Say(String),
    /// Calls a tool with named arguments.
    Call {
        tool: String,
        arguments: Value,
    },
    /// Calls a tool that takes one free text.
    Input {
        tool: String,
        text: String,
    },
}

/// Tools that write a whole file.
const WRITERS: [&str; 4] = ["write", "write_file", "write_to_file", "create_file"];
/// Tools that run a command.
const SHELLS: [&str; 7] = [
    "bash",
    "run_shell_command",
    "exec_command",
    "shell_command",
    "shell",
    "local_shell",
    "execute_command",
];
const PATHS: [&str; 5] = ["filePath", "file_path", "path", "absolute_path", "filename"];
const CONTENTS: [&str; 4] = ["content", "contents", "file_text", "text"];
const COMMANDS: [&str; 2] = ["cmd", "command"];

/// Maps a step to what the agent of this conversation can do, or says why it cannot.
pub(super) fn act(step: &Step, conversation: &Conversation) -> Result<Act, String> {
    let tools = &conversation.tools;
    let found = match step {
        Step::Say(text) => Some(Act::Say(text.clone())),
        Step::Cut => Some(Act::Say(
            "This answer breaks off in the middle of".to_owned(),
        )),
        Step::Write { path, content } => write(tools, path, content),
        Step::Shell(command) => shell(tools, command),
        Step::Error { .. } | Step::Hang => None,
    };
    found.ok_or_else(|| {
        let names: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
        format!(
            "no tool of this agent does what the script asks for; it has: {}",
            names.join(", ")
        )
    })
}

fn write(tools: &[Tool], path: &str, content: &str) -> Option<Act> {
    let writer = find(tools, &WRITERS).and_then(|tool| {
        let (at, of) = (tool.property(&PATHS)?, tool.property(&CONTENTS)?);
        Some(tool.call([(at, path.into()), (of, content.into())]))
    });
    let patch = || {
        let tool = find(tools, &["apply_patch"]).filter(|tool| tool.is_free_form)?;
        Some(Act::Input {
            tool: tool.name.clone(),
            text: patch(path, content),
        })
    };
    let by_shell = || {
        let folder = path.rsplit_once('/').map_or(".", |(folder, _)| folder);
        let (folder, path, content) = (quoted(folder), quoted(path), quoted(content));
        shell(
            tools,
            &format!("mkdir -p -- {folder} && printf %s {content} >{path}"),
        )
    };
    writer.or_else(patch).or_else(by_shell)
}

fn patch(path: &str, content: &str) -> String {
    let lines: String = content.lines().map(|line| format!("+{line}\n")).collect();
    format!("*** Begin Patch\n*** Add File: {path}\n{lines}*** End Patch\n")
}

fn shell(tools: &[Tool], command: &str) -> Option<Act> {
    let tool = find(tools, &SHELLS)?;
    let name = tool.property(&COMMANDS)?;
    let value = match tool.schema["properties"][name]["type"].as_str() {
        Some("array") => json!(["sh", "-c", command]),
        _ => command.into(),
    };
    Some(tool.call([(name, value)]))
}

fn find<'a>(tools: &'a [Tool], names: &[&str]) -> Option<&'a Tool> {
    names.iter().find_map(|name| {
        tools
            .iter()
            .find(|tool| tool.name.eq_ignore_ascii_case(name))
    })
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

impl Tool {
    /// Returns the first of these names that the tool has an argument of.
    fn property<'a>(&self, names: &[&'a str]) -> Option<&'a str> {
        let has = |name: &&&str| !self.schema["properties"][**name].is_null();
        names.iter().find(has).copied()
    }

    /// Calls it, with something in every other argument that it insists on.
    fn call<const N: usize>(&self, given: [(&str, Value); N]) -> Act {
        let mut arguments: Map<_, _> = given
            .map(|(name, value)| (name.to_owned(), value))
            .into_iter()
            .collect();
        for name in self.schema["required"].as_array().into_iter().flatten() {
            let Some(name) = name.as_str() else { continue };
            let filler = match self.schema["properties"][name]["type"].as_str() {
                Some("boolean") => false.into(),
                Some("number" | "integer") => 0.into(),
                Some("array") => json!([]),
                Some("object") => json!({}),
                _ => "scripted".into(),
            };
            arguments.entry(name).or_insert(filler);
        }
        Act::Call {
            tool: self.name.clone(),
            arguments: arguments.into(),
        }
    }
}
