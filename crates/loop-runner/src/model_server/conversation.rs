//! A conversation, whichever API it came by.

use super::api::Api;
use serde_json::Value;

/// What was said so far, and the tools that the agent has.
#[derive(Debug, Default)]
pub(super) struct Conversation {
    system: String,
    turns: Vec<Turn>,
    /// The tools, in the order in which they were declared.
    pub(super) tools: Vec<Tool>,
}

#[derive(Debug)]
enum Turn {
    User(String),
    Assistant,
    /// What a tool gave, which may hold any text and is nobody's word.
    Result,
}

/// A tool that the agent offers.
#[derive(Debug)]
pub(super) struct Tool {
    pub(super) name: String,
    /// The schema of its arguments.
    pub(super) schema: Value,
    /// Whether it takes one free text instead.
    pub(super) is_free_form: bool,
}

impl Conversation {
    /// Reads the body of a request; what is not understood is left out.
    pub(super) fn read(api: Api, body: &Value) -> Self {
        let mut read = Self::default();
        match api {
            Api::Chat => read.chat(body),
            Api::Responses => read.responses(body),
            Api::Messages => read.messages(body),
            Api::Generate => read.generate(body),
        }
        read
    }

    /// Returns the texts of the user, the newest first, and then the system's.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        let users = self.turns.iter().rev().filter_map(|turn| match turn {
            Turn::User(text) => Some(text.as_str()),
            Turn::Assistant | Turn::Result => None,
        });
        users.chain([self.system.as_str()])
    }

    /// Counts the answers since the newest text of the user that holds `marker`.
    pub(super) fn answers_since(&self, marker: &str) -> usize {
        let is_user = |turn: &Turn| matches!(turn, Turn::User(_));
        let is_start = |turn: &Turn| matches!(turn, Turn::User(text) if text.contains(marker));
        // A marker in the system's text belongs to whatever the user said last.
        let mut turns = self.turns.iter();
        let start = turns
            .clone()
            .rposition(is_start)
            .or_else(|| turns.rposition(is_user));
        // One answer may be several items: a text, and calls of tools.
        let since = self.turns.get(start.unwrap_or(0)..).unwrap_or_default();
        let is_answer = |turn: &Turn| matches!(turn, Turn::Assistant);
        since
            .chunk_by(|one, next| is_answer(one) && is_answer(next))
            .filter(|turns| turns.iter().any(is_answer))
            .count()
    }

    fn said(&mut self, role: Option<&str>, text: String) {
        match role {
            Some("user") => self.turns.push(Turn::User(text)),
            Some("assistant" | "model") => self.turns.push(Turn::Assistant),
            Some("tool" | "function") => self.turns.push(Turn::Result),
            // `system` and `developer`, wherever they stand.
            _ => {
                self.system.push_str(&text);
                self.system.push('\n');
            }
        }
    }

    fn chat(&mut self, body: &Value) {
        for message in list(&body["messages"]) {
            self.said(message["role"].as_str(), text_of(&message["content"]));
        }
        for tool in list(&body["tools"]) {
            self.tool(&tool["function"], "parameters");
        }
    }

    fn responses(&mut self, body: &Value) {
        self.said(None, text_of(&body["instructions"]));
        if let Some(text) = body["input"].as_str() {
            self.said(Some("user"), text.to_owned());
        }
        for item in list(&body["input"]) {
            match item["type"].as_str().unwrap_or("message") {
                "message" => self.said(item["role"].as_str(), text_of(&item["content"])),
                kind if kind.ends_with("_call") => self.turns.push(Turn::Assistant),
                kind if kind.ends_with("_output") => self.turns.push(Turn::Result),
                _ => {}
            }
        }
        for tool in list(&body["tools"]) {
            self.tool(tool, "parameters");
        }
    }

    fn messages(&mut self, body: &Value) {
        self.said(None, text_of(&body["system"]));
        for message in list(&body["messages"]) {
            let has_result = list(&message["content"]).any(|part| part["type"] == "tool_result");
            let role = if has_result {
                "tool"
            } else {
                message["role"].as_str().unwrap_or_default()
            };
            self.said(Some(role), text_of(&message["content"]));
        }
        for tool in list(&body["tools"]) {
            self.tool(tool, "input_schema");
        }
    }

    fn generate(&mut self, body: &Value) {
        self.said(None, text_of(&body["systemInstruction"]["parts"]));
        for content in list(&body["contents"]) {
            let parts = &content["parts"];
            let has_result = list(parts).any(|part| !part["functionResponse"].is_null());
            let role = if has_result {
                "tool"
            } else {
                content["role"].as_str().unwrap_or("user")
            };
            self.said(Some(role), text_of(parts));
        }
        for group in list(&body["tools"]) {
            for tool in list(&group["functionDeclarations"]) {
                let has_json = !tool["parametersJsonSchema"].is_null();
                self.tool(
                    tool,
                    if has_json {
                        "parametersJsonSchema"
                    } else {
                        "parameters"
                    },
                );
            }
        }
    }

    fn tool(&mut self, declared: &Value, schema: &str) {
        if let Some(name) = declared["name"].as_str() {
            self.tools.push(Tool {
                name: name.to_owned(),
                schema: declared[schema].clone(),
                is_free_form: declared["type"] == "custom",
            });
        }
    }
}

/// Returns the elements of an array; anything else has none.
fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// Returns all text in a content: a string, a part, or a list of either.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(text_of).collect::<Vec<_>>().join("\n"),
        Value::Object(part) => part
            .get("text")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned(),
        _ => String::new(),
    }
}
