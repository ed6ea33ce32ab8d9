//! Generated content.

use super::{Answer, Encoded, Event};
use crate::model_server::act::Act;
use serde_json::{Value, json};

pub(super) fn encode(answer: &Answer<'_>) -> Encoded {
    let parts = match answer.act {
        Act::Say(text) => halves(text).map(|half| json!({"text": half})).to_vec(),
        Act::Call { tool, arguments } => vec![called(answer, tool, arguments)],
        Act::Input { tool, text } => vec![called(answer, tool, &json!({"input": text}))],
    };
    let whole = match answer.act {
        Act::Say(text) => json!([{"text": text}]),
        Act::Call { .. } | Act::Input { .. } => json!(parts),
    };
    let last = parts.len().saturating_sub(1);
    let event =
        |(place, part): (usize, &Value)| Event::plain(&shape(answer, json!([part]), place == last));
    let events = parts.iter().enumerate().map(event).collect();
    Encoded {
        whole: shape(answer, whole, true),
        events,
    }
}

fn halves(text: &str) -> [&str; 2] {
    let (first, second) = text.split_at(text.floor_char_boundary(text.len() / 2));
    [first, second]
}

fn called(answer: &Answer<'_>, tool: &str, arguments: &Value) -> Value {
    json!({"functionCall": {"id": answer.id("call"), "name": tool, "args": arguments}})
}

fn shape(answer: &Answer<'_>, parts: Value, is_last: bool) -> Value {
    let mut candidate = json!({"index": 0, "content": {"role": "model", "parts": parts}});
    let mut shape = json!({"modelVersion": answer.model, "responseId": answer.id("r")});
    if is_last {
        candidate["finishReason"] = "STOP".into();
        shape["usageMetadata"] = json!({
            "promptTokenCount": answer.usage.input,
            "cachedContentTokenCount": answer.usage.cached,
            "candidatesTokenCount": answer.usage.output,
            "totalTokenCount": answer.usage.input.saturating_add(answer.usage.output),
        });
    }
    shape["candidates"] = json!([candidate]);
    shape
}
