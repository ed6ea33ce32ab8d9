//! Messages.

use super::{Answer, Encoded, Event, pieces};
use crate::model_server::act::Act;
use serde_json::{Value, json};

pub(super) fn encode(answer: &Answer<'_>) -> Encoded {
    let (block, opened, reason, deltas) = match answer.act {
        Act::Say(text) => (
            json!({"type": "text", "text": text}),
            json!({"type": "text", "text": ""}),
            "end_turn",
            deltas("text_delta", "text", text),
        ),
        Act::Call { tool, arguments } => called(answer, tool, arguments),
        Act::Input { tool, text } => called(answer, tool, &json!({"input": text})),
    };
    let shape = |content: Value, reason: Value, output: u64| {
        json!({
            "id": answer.id("msg"), "type": "message", "role": "assistant", "model": answer.model,
            "content": content, "stop_reason": reason, "stop_sequence": null,
            "usage": usage(answer, output),
        })
    };
    let total = answer.usage.output;
    let mut events = vec![
        event(
            "message_start",
            json!({"message": shape(json!([]), Value::Null, 1)}),
        ),
        event(
            "content_block_start",
            json!({"index": 0, "content_block": opened}),
        ),
    ];
    events.extend(
        deltas
            .into_iter()
            .map(|delta| event("content_block_delta", json!({"index": 0, "delta": delta}))),
    );
    events.push(event("content_block_stop", json!({"index": 0})));
    events.push(event(
        "message_delta",
        json!({
            "delta": {"stop_reason": reason, "stop_sequence": null}, "usage": usage(answer, total),
        }),
    ));
    events.push(event("message_stop", json!({})));
    Encoded {
        whole: shape(json!([block]), reason.into(), total),
        events,
    }
}

fn called(
    answer: &Answer<'_>,
    tool: &str,
    arguments: &Value,
) -> (Value, Value, &'static str, Vec<Value>) {
    let block = |input: &Value| json!({"type": "tool_use", "id": answer.id("toolu"), "name": tool, "input": input});
    let deltas = deltas("input_json_delta", "partial_json", &arguments.to_string());
    (block(arguments), block(&json!({})), "tool_use", deltas)
}

fn deltas(kind: &str, name: &str, text: &str) -> Vec<Value> {
    let delta = |piece: &String| json!({"type": kind, name: piece});
    pieces(text).iter().map(delta).collect()
}

fn event(name: &'static str, mut data: Value) -> Event {
    data["type"] = name.into();
    Event::named(name, &data)
}

/// Here what came from a cache is not part of the input.
fn usage(answer: &Answer<'_>, output: u64) -> Value {
    json!({
        "input_tokens": answer.usage.input.saturating_sub(answer.usage.cached),
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": answer.usage.cached,
        "output_tokens": output,
    })
}
