//! Responses.

use super::{Answer, CREATED, Encoded, Event, pieces};
use crate::model_server::act::Act;
use serde_json::{Value, json};

pub(super) fn encode(answer: &Answer<'_>) -> Encoded {
    let item = item(answer);
    let shape = |status: &str, output: Value, usage: Value| {
        json!({
            "id": answer.id("resp"), "object": "response", "created_at": CREATED,
            "model": answer.model, "status": status, "output": output, "usage": usage,
        })
    };
    let begun = shape("in_progress", json!([]), Value::Null);
    let whole = shape("completed", json!([item]), usage(answer));

    let mut stream = Stream::default();
    stream.push("response.created", json!({"response": begun}));
    stream.push("response.in_progress", json!({"response": begun}));
    let mut opened = item.clone();
    opened["status"] = "in_progress".into();
    stream.push(
        "response.output_item.added",
        json!({"output_index": 0, "item": opened}),
    );
    match answer.act {
        Act::Say(text) => stream.message(&item, text),
        Act::Call { arguments, .. } => stream.argument(
            &item,
            [
                "response.function_call_arguments.delta",
                "response.function_call_arguments.done",
            ],
            "arguments",
            &arguments.to_string(),
        ),
        Act::Input { text, .. } => stream.argument(
            &item,
            [
                "response.custom_tool_call_input.delta",
                "response.custom_tool_call_input.done",
            ],
            "input",
            text,
        ),
    }
    stream.push(
        "response.output_item.done",
        json!({"output_index": 0, "item": item}),
    );
    stream.push("response.completed", json!({"response": whole}));
    Encoded {
        whole,
        events: stream.events,
    }
}

fn item(answer: &Answer<'_>) -> Value {
    match answer.act {
        Act::Say(text) => json!({
            "type": "message", "id": answer.id("msg"), "role": "assistant", "status": "completed",
            "content": [part(text)],
        }),
        Act::Call { tool, arguments } => json!({
            "type": "function_call", "id": answer.id("fc"), "call_id": answer.id("call"),
            "name": tool, "arguments": arguments.to_string(), "status": "completed",
        }),
        Act::Input { tool, text } => json!({
            "type": "custom_tool_call", "id": answer.id("ctc"), "call_id": answer.id("call"),
            "name": tool, "input": text, "status": "completed",
        }),
    }
}

fn part(text: &str) -> Value {
    json!({"type": "output_text", "text": text, "annotations": []})
}

fn usage(answer: &Answer<'_>) -> Value {
    let usage = answer.usage;
    json!({
        "input_tokens": usage.input,
        "input_tokens_details": {"cached_tokens": usage.cached},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": usage.input.saturating_add(usage.output),
    })
}

/// Events, which are numbered.
#[derive(Default)]
struct Stream {
    events: Vec<Event>,
}

impl Stream {
    fn push(&mut self, name: &'static str, mut data: Value) {
        data["type"] = name.into();
        data["sequence_number"] = self.events.len().into();
        self.events.push(Event::named(name, &data));
    }

    fn message(&mut self, item: &Value, text: &str) {
        let at = |name: &str, value: Value| json!({"item_id": item["id"], "output_index": 0, "content_index": 0, name: value});
        self.push("response.content_part.added", at("part", part("")));
        for piece in pieces(text) {
            self.push("response.output_text.delta", at("delta", piece.into()));
        }
        self.push("response.output_text.done", at("text", text.into()));
        self.push("response.content_part.done", at("part", part(text)));
    }

    fn argument(&mut self, item: &Value, [delta, done]: [&'static str; 2], name: &str, text: &str) {
        let at = |name: &str, value: &str| json!({"item_id": item["id"], "output_index": 0, name: value});
        for piece in pieces(text) {
            self.push(delta, at("delta", &piece));
        }
        self.push(done, at(name, text));
    }
}
