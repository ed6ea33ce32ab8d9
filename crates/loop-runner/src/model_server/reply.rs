//! What one request is answered with.

use super::Request;
use super::act::act;
use super::api::{Api, Route};
use super::conversation::Conversation;
use super::encode::{self, Answer, Encoded, Event};
use super::http::Incoming;
use super::script::{Chosen, Script, Spent, Step};
use serde_json::{Value, json};

/// An answer, ready to be sent.
#[derive(Debug)]
pub(super) enum Reply {
    Whole {
        status: u16,
        retry_after: Option<u32>,
        body: Value,
    },
    Events(Vec<Event>),
    /// An answer in one piece that breaks off.
    HalfWhole(Value),
    /// Events that break off.
    HalfEvents(Vec<Event>),
    /// No answer.
    Silence,
}

/// Answers one request after the other.
#[derive(Debug)]
pub(super) struct Replies {
    script: Script,
    spent: Spent,
    number: u64,
}

/// What a side errand of an agent, such as a title for the session, is answered with.
const ASIDE: &str = "Untitled";

impl Replies {
    pub(super) fn new(script: Script) -> Self {
        Self {
            script,
            spent: Spent::default(),
            number: 0,
        }
    }

    /// Decides what a request is answered with, and describes both.
    pub(super) fn to(&mut self, incoming: &Incoming) -> (Reply, Request) {
        let mut request = Request::new(&incoming.method, &incoming.path);
        let route = Route::of(&incoming.method, &incoming.path);
        let reply = match route {
            Some(Route::Talk(api, streams)) => self.talk(api, streams, incoming, &mut request),
            Some(Route::Count(name)) => whole(200, json!({name: incoming.body.len() / 4 + 1})),
            Some(Route::Models) => whole(200, encode::models()),
            Some(Route::Hello) => whole(200, json!({})),
            None => refused(None, 404, "this server has nothing here"),
        };
        request.status = match &reply {
            Reply::Whole { status, .. } => Some(*status),
            Reply::Silence => None,
            _ => Some(200),
        };
        (reply, request)
    }

    fn talk(
        &mut self,
        api: Api,
        streams: bool,
        incoming: &Incoming,
        request: &mut Request,
    ) -> Reply {
        request.api = Some(api);
        let Ok(body) = serde_json::from_slice::<Value>(&incoming.body) else {
            return refused(Some(api), 400, "the body is no JSON");
        };
        let conversation = Conversation::read(api, &body);
        request.describe(&conversation);
        let Some(chosen) = self.script.choose(&conversation, &mut self.spent) else {
            return refused(
                Some(api),
                400,
                "the script has no role for this conversation",
            );
        };
        request.role = Some(chosen.marker.to_owned());
        request.step = Some(chosen.place);
        let step = step_of(&chosen, &conversation);
        match &step {
            Step::Hang => return Reply::Silence,
            Step::Error {
                status,
                retry_after,
                message,
                ..
            } => {
                return Reply::Whole {
                    status: *status,
                    retry_after: *retry_after,
                    body: encode::error(Some(api), *status, message),
                };
            }
            _ => {}
        }
        let act = match act(&step, &conversation) {
            Ok(act) => act,
            Err(why) => return refused(Some(api), 400, &why),
        };
        self.number += 1;
        let encoded = Answer {
            act: &act,
            usage: self.script.tokens(),
            model: body["model"].as_str().unwrap_or("scripted"),
            number: self.number,
        }
        .encode(api);
        let streams = streams || body["stream"] == true;
        pack(encoded, streams, step == Step::Cut)
    }
}

/// Returns the step to take: not that of the script where it needs tools and the request has none.
fn step_of(chosen: &Chosen<'_>, conversation: &Conversation) -> Step {
    let is_answer = !matches!(chosen.step, Step::Error { .. } | Step::Hang);
    if is_answer && chosen.wants_tools && conversation.tools.is_empty() {
        return Step::Say(ASIDE.to_owned());
    }
    chosen.step.clone()
}

fn pack(encoded: Encoded, streams: bool, is_cut: bool) -> Reply {
    let Encoded { whole, mut events } = encoded;
    match (streams, is_cut) {
        (true, false) => Reply::Events(events),
        (true, true) => {
            events.truncate(events.len() / 2);
            Reply::HalfEvents(events)
        }
        (false, false) => self::whole(200, whole),
        (false, true) => Reply::HalfWhole(whole),
    }
}

fn whole(status: u16, body: Value) -> Reply {
    Reply::Whole {
        status,
        retry_after: None,
        body,
    }
}

fn refused(api: Option<Api>, status: u16, message: &str) -> Reply {
    whole(status, encode::error(api, status, message))
}
