//! Chat completions.

use super::{Answer, CREATED, Encoded, Event, pieces};
use crate::model_server::act::Act;
use serde_json::{Value, json};

pub(super) fn encode(answer: &Answer<'_>) -> Encoded {
    let (message, reason, deltas) = match answer.act {
        Act::Say(text) => (
            json!({"role": "assistant", "content": text}),
            "stop",
            pieces(text)
                .iter()
                .map(|piece| json!({"content": piece}))
                .collect(),
        ),
        Act::Call { tool, arguments } => called(answer, tool, &arguments.to_string()),
        Act::Input { tool, text } => called(answer, tool, text),
    };
    let usage = usage(answer);
    let whole = shape(
        answer,
        "chat.completion",
        json!([{
            "index": 0, "message": message, "finish_reason": reason,
        }]),
        &usage,
    );
    Encoded {
        events: events(answer, deltas, reason, &usage),
        whole,
    }
}

fn called(answer: &Answer<'_>, tool: &str, arguments: &str) -> (Value, &'static str, Vec<Value>) {
    let call = |arguments: &str| {
        json!({
            "id": answer.id("call"), "type": "function",
            "function": {"name": tool, "arguments": arguments},
        })
    };
    let mut opened = call("");
    opened["index"] = 0.into();
    let mut deltas = vec![json!({"tool_calls": [opened]})];
    deltas.extend(
        pieces(arguments)
            .iter()
            .map(|piece| json!({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]})),
    );
    let message = json!({"role": "assistant", "content": null, "tool_calls": [call(arguments)]});
    (message, "tool_calls", deltas)
}

fn events(answer: &Answer<'_>, deltas: Vec<Value>, reason: &str, usage: &Value) -> Vec<Event> {
    let chunk = |choices: Value, usage: &Value| {
        Event::plain(&shape(answer, "chat.completion.chunk", choices, usage))
    };
    let part = |delta: Value, reason: Value| {
        chunk(
            json!([{"index": 0, "delta": delta, "finish_reason": reason}]),
            &Value::Null,
        )
    };
    let mut events = vec![part(
        json!({"role": "assistant", "content": ""}),
        Value::Null,
    )];
    events.extend(deltas.into_iter().map(|delta| part(delta, Value::Null)));
    events.push(part(json!({}), reason.into()));
    events.push(chunk(json!([]), usage));
    events.push(Event {
        name: None,
        data: "[DONE]".to_owned(),
    });
    events
}

fn shape(answer: &Answer<'_>, object: &str, choices: Value, usage: &Value) -> Value {
    json!({
        "id": answer.id("chatcmpl"), "object": object, "created": CREATED,
        "model": answer.model, "choices": choices, "usage": usage,
    })
}

fn usage(answer: &Answer<'_>) -> Value {
    let usage = answer.usage;
    json!({
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input.saturating_add(usage.output),
        "prompt_tokens_details": {"cached_tokens": usage.cached},
    })
}
