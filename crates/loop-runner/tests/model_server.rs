//! The scripted model, asked by a plain client.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use loop_runner::model_server::{ModelServer, Script, Step, Usage};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::thread;
use std::time::Duration;

const CHAT: &str = "/v1/chat/completions";
const RESPONSES: &str = "/v1/responses";
const MESSAGES: &str = "/v1/messages";
const GENERATE: &str = "/v1beta/models/m:generateContent";
const STREAM: &str = "/v1beta/models/m:streamGenerateContent";

fn write(path: &str, content: &str) -> Step {
    Step::Write {
        path: path.to_owned(),
        content: content.to_owned(),
    }
}

fn say(text: &str) -> Step {
    Step::Say(text.to_owned())
}

fn error(status: u16, times: Option<u32>) -> Step {
    Step::Error {
        status,
        retry_after: Some(7),
        message: "not now".to_owned(),
        times,
    }
}

fn start(steps: impl IntoIterator<Item = Step>) -> ModelServer {
    ModelServer::start(Script::new().role("WORK", steps)).unwrap()
}

/// An answer as it came over the wire.
#[derive(Debug)]
struct Answer {
    status: u16,
    head: String,
    body: String,
    /// Whether the body has the end that it should have.
    whole: bool,
}

impl Answer {
    fn json(&self) -> Value {
        assert!(self.whole, "{self:#?}");
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }

    /// Returns the data of every event that is JSON.
    fn events(&self) -> Vec<Value> {
        let data = self
            .body
            .lines()
            .filter_map(|line| line.strip_prefix("data: "));
        data.filter(|data| *data != "[DONE]")
            .map(|data| serde_json::from_str(data).unwrap())
            .collect()
    }

    /// Puts the pieces of a stream together that `piece` finds.
    fn joined(&self, piece: impl Fn(&Value) -> &Value) -> String {
        assert!(self.whole, "{self:#?}");
        let events = self.events();
        events
            .iter()
            .filter_map(|event| piece(event).as_str())
            .collect()
    }
}

fn connect(server: &ModelServer) -> TcpStream {
    let stream = TcpStream::connect(server.url().strip_prefix("http://").unwrap()).unwrap();
    // A server that does nothing is a test that fails, not one that hangs.
    let patience = Some(Duration::from_secs(60));
    stream.set_read_timeout(patience).unwrap();
    stream.set_write_timeout(patience).unwrap();
    stream
}

/// Sends bytes and reads until the server closes.
fn exchange(server: &ModelServer, bytes: &[u8]) -> String {
    let mut stream = connect(server);
    stream.write_all(bytes).unwrap();
    let mut text = Vec::new();
    stream.read_to_end(&mut text).unwrap();
    String::from_utf8(text).unwrap()
}

fn request(path: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{headers}Content-Length: {length}\r\n\r\n{body}"
    )
}

fn parse(text: &str) -> Answer {
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "));
    let (body, whole) = match length {
        Some(length) => (
            body.to_owned(),
            body.len() == length.parse::<usize>().unwrap(),
        ),
        None => dechunk(body),
    };
    Answer {
        status,
        head: head.to_owned(),
        body,
        whole,
    }
}

fn dechunk(mut body: &str) -> (String, bool) {
    let mut text = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        if size == 0 {
            return (text, true);
        }
        text.push_str(&rest[..size]);
        body = rest[size..].strip_prefix("\r\n").unwrap();
    }
    (text, false)
}

fn ask(server: &ModelServer, path: &str, body: &Value) -> Answer {
    parse(&exchange(
        server,
        request(path, "", &body.to_string()).as_bytes(),
    ))
}

/// Tools as the agents declare them: an editor with these names, and a shell.
fn chat_tools() -> Value {
    let tool = |name: &str, arguments: Value| {
        json!({"type": "function", "function": {"name": name, "parameters": {
            "properties": arguments, "required": ["description"],
        }}})
    };
    json!([
        tool(
            "write",
            json!({"filePath": {"type": "string"}, "content": {"type": "string"}})
        ),
        tool("bash", json!({"command": {"type": "string"}})),
    ])
}

fn chat(turns: usize, streams: bool) -> Value {
    let mut messages = vec![
        json!({"role": "system", "content": "be good"}),
        json!({"role": "user", "content": [{"type": "text", "text": "WORK, please"}]}),
    ];
    for _ in 0..turns {
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": []}));
        messages.push(json!({"role": "tool", "content": "WORK done"}));
    }
    json!({"model": "m", "stream": streams, "messages": messages, "tools": chat_tools()})
}

fn steps() -> [Step; 3] {
    [
        write("a b/c.txt", "it's \u{e9}\n"),
        Step::Shell("ls -l".to_owned()),
        say("all done, with a text of some length"),
    ]
}

#[test]
fn chat_is_answered_step_by_step() {
    let server = start(steps());
    let first = ask(&server, CHAT, &chat(0, true));
    assert_eq!(first.status, 200);
    let call = |event: &Value| event["choices"][0]["delta"]["tool_calls"][0]["function"].clone();
    let name = first
        .events()
        .iter()
        .find_map(|event| call(event)["name"].as_str().map(str::to_owned));
    assert_eq!(name.as_deref(), Some("write"));
    let arguments = first
        .joined(|event| &event["choices"][0]["delta"]["tool_calls"][0]["function"]["arguments"]);
    assert_eq!(
        serde_json::from_str::<Value>(&arguments).unwrap(),
        json!({"filePath": "a b/c.txt", "content": "it's \u{e9}\n", "description": "scripted"})
    );
    assert!(first.body.ends_with("data: [DONE]\n\n"), "{first:#?}");
    let usage = &first.events().pop().unwrap()["usage"];
    assert_eq!(usage["prompt_tokens"], 1000);
    assert_eq!(usage["prompt_tokens_details"]["cached_tokens"], 200);
    assert_eq!(usage["completion_tokens"], 50);

    let second = ask(&server, CHAT, &chat(1, false)).json();
    let choice = &second["choices"][0];
    assert_eq!(choice["finish_reason"], "tool_calls");
    let called = &choice["message"]["tool_calls"][0]["function"];
    assert_eq!(called["name"], "bash");
    let arguments: Value = serde_json::from_str(called["arguments"].as_str().unwrap()).unwrap();
    assert_eq!(arguments["command"], "ls -l");

    // What comes after the last step is the last step.
    for turns in [2, 9] {
        let last = ask(&server, CHAT, &chat(turns, true));
        let text = last.joined(|event| &event["choices"][0]["delta"]["content"]);
        assert_eq!(text, "all done, with a text of some length");
    }
    let seen: Vec<_> = server
        .requests()
        .iter()
        .map(|request| request.step)
        .collect();
    assert_eq!(seen, [Some(0), Some(1), Some(2), Some(2)]);
}

fn responses(tools: Value, turns: usize) -> Value {
    let mut input = vec![
        json!({"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "be good"}]}),
        json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "WORK"}]}),
    ];
    for _ in 0..turns {
        // Two items, but one answer.
        input.push(json!({"type": "message", "role": "assistant", "content": []}));
        input.push(json!({"type": "function_call", "name": "x", "arguments": "{}"}));
        input.push(json!({"type": "function_call_output", "output": "WORK"}));
    }
    json!({"model": "m", "stream": true, "input": input, "tools": tools})
}

#[test]
fn responses_are_answered_with_whatever_tool_there_is() {
    let server = start(steps());
    let shell = json!({"type": "function", "name": "exec_command", "parameters": {"properties": {"cmd": {"type": "string"}}}});
    let list = json!({"type": "function", "name": "shell", "parameters": {"properties": {"command": {"type": "array"}}}});
    let patch = json!({"type": "custom", "name": "apply_patch"});
    let command = "mkdir -p -- 'a b' && printf %s 'it'\\''s \u{e9}\n' >'a b/c.txt'";
    for (tools, name, argument) in [
        (json!([shell]), "exec_command", json!({"cmd": command})),
        (
            json!([list]),
            "shell",
            json!({"command": ["sh", "-c", command]}),
        ),
        (
            json!([shell, patch]),
            "apply_patch",
            "*** Begin Patch\n*** Add File: a b/c.txt\n+it's \u{e9}\n*** End Patch\n".into(),
        ),
    ] {
        let answer = ask(&server, RESPONSES, &responses(tools, 0));
        let events = answer.events();
        let item = &events[events.len() - 2]["item"];
        assert_eq!(item["name"], name);
        let given = answer.joined(|event| &event["delta"]);
        match &argument {
            Value::String(text) => {
                assert_eq!(&given, text);
                assert_eq!(item["input"], given);
            }
            _ => {
                assert_eq!(serde_json::from_str::<Value>(&given).unwrap(), argument);
                assert_eq!(item["arguments"], given);
            }
        }
        let numbers: Vec<_> = events
            .iter()
            .map(|event| event["sequence_number"].as_u64())
            .collect();
        let expected: Vec<_> = (0..events.len() as u64).map(Some).collect();
        assert_eq!(numbers, expected);
    }
    // A text and a call are one answer.
    let second = ask(&server, RESPONSES, &responses(json!([shell]), 1));
    assert_eq!(second.joined(|event| &event["delta"]), r#"{"cmd":"ls -l"}"#);
    let last = ask(&server, RESPONSES, &responses(json!([shell]), 2));
    assert_eq!(
        last.joined(|event| &event["delta"]),
        "all done, with a text of some length"
    );
    let completed = last.events().pop().unwrap();
    assert_eq!(completed["type"], "response.completed");
    assert_eq!(
        completed["response"]["usage"]["input_tokens_details"]["cached_tokens"],
        200
    );
    let mut plain = responses(json!([shell]), 2);
    plain["stream"] = false.into();
    let whole = ask(&server, RESPONSES, &plain).json();
    assert_eq!(
        whole["output"][0]["content"][0]["text"],
        "all done, with a text of some length"
    );
}

fn messages(turns: usize, streams: bool) -> Value {
    let mut messages = vec![json!({"role": "user", "content": "WORK"})];
    for _ in 0..turns {
        messages.push(json!({"role": "assistant", "content": [{"type": "tool_use"}]}));
        messages.push(json!({"role": "user", "content": [
            {"type": "tool_result", "content": "x"}, {"type": "text", "text": "WORK"},
        ]}));
        messages.push(json!({"role": "system", "content": "a reminder"}));
    }
    let tool =
        json!({"name": "Write", "input_schema": {"properties": {"file_path": {}, "content": {}}}});
    let tool_2 =
        json!({"name": "Bash", "input_schema": {"properties": {"command": {"type": "string"}}}});
    json!({
        "model": "m", "stream": streams, "max_tokens": 9, "system": [{"type": "text", "text": "be good"}],
        "messages": messages, "tools": [tool, tool_2],
    })
}

#[test]
fn messages_are_answered_and_counted() {
    let server = start(steps());
    let first = ask(&server, MESSAGES, &messages(0, true));
    let arguments = first.joined(|event| &event["delta"]["partial_json"]);
    let arguments: Value = serde_json::from_str(&arguments).unwrap();
    assert_eq!(
        arguments,
        json!({"file_path": "a b/c.txt", "content": "it's \u{e9}\n"})
    );
    let events = first.events();
    let kinds: Vec<_> = events
        .iter()
        .map(|event| event["type"].as_str().unwrap())
        .collect();
    assert_eq!(kinds[..2], ["message_start", "content_block_start"]);
    assert_eq!(
        kinds[kinds.len() - 3..],
        ["content_block_stop", "message_delta", "message_stop"]
    );
    assert!(first.body.starts_with("event: message_start\n"));
    assert_eq!(events[1]["content_block"]["name"], "Write");

    let second = ask(&server, MESSAGES, &messages(1, false)).json();
    assert_eq!(second["content"][0]["input"]["command"], "ls -l");
    assert_eq!(second["stop_reason"], "tool_use");
    // What came from a cache is not part of the input here.
    assert_eq!(second["usage"]["input_tokens"], 800);
    assert_eq!(second["usage"]["cache_read_input_tokens"], 200);
    let last = ask(&server, "/v1/messages?beta=true", &messages(2, true));
    assert_eq!(
        last.joined(|event| &event["delta"]["text"]),
        "all done, with a text of some length"
    );

    let counted = ask(&server, "/v1/messages/count_tokens", &messages(2, false)).json();
    assert!(counted["input_tokens"].as_u64().unwrap() > 10, "{counted}");
}

fn generate(turns: usize) -> Value {
    let mut contents = vec![json!({"role": "user", "parts": [{"text": "WORK"}]})];
    for _ in 0..turns {
        contents.push(json!({"role": "model", "parts": [{"functionCall": {}}]}));
        contents.push(json!({"role": "user", "parts": [{"functionResponse": {"name": "x"}}]}));
    }
    json!({
        "systemInstruction": {"parts": [{"text": "be good"}]},
        "contents": contents,
        "tools": [{"functionDeclarations": [
            {"name": "write_file", "parametersJsonSchema": {"properties": {"file_path": {}, "content": {}}}},
            {"name": "run_shell_command", "parameters": {"properties": {"command": {"type": "STRING"}}}},
        ]}],
    })
}

#[test]
fn generated_content_is_answered_whole_and_as_events() {
    let server = start(steps());
    let first = ask(&server, GENERATE, &generate(0)).json();
    let call = &first["candidates"][0]["content"]["parts"][0]["functionCall"];
    assert_eq!(call["name"], "write_file");
    assert_eq!(
        call["args"],
        json!({"file_path": "a b/c.txt", "content": "it's \u{e9}\n"})
    );
    assert_eq!(first["usageMetadata"]["promptTokenCount"], 1000);
    let second = ask(&server, STREAM, &generate(1));
    let call = &second.events()[0]["candidates"][0]["content"]["parts"][0]["functionCall"];
    assert_eq!(call["args"], json!({"command": "ls -l"}));
    let last = ask(&server, STREAM, &generate(2));
    let text = last.joined(|event| &event["candidates"][0]["content"]["parts"][0]["text"]);
    assert_eq!(text, "all done, with a text of some length");
    let ends: Vec<_> = last
        .events()
        .iter()
        .map(|event| event["candidates"][0]["finishReason"].clone())
        .collect();
    assert_eq!(ends, [Value::Null, "STOP".into()]);
}

#[test]
fn every_answer_says_what_it_took() {
    let usage = Usage {
        input: 11,
        cached: 4,
        output: 3,
    };
    let script = Script::new().role("WORK", [say("ok")]).usage(usage);
    let server = ModelServer::start(script).unwrap();
    let answer = ask(&server, CHAT, &chat(0, false)).json();
    assert_eq!(answer["usage"]["total_tokens"], 14);
    let answer = ask(&server, MESSAGES, &messages(0, false)).json();
    assert_eq!(answer["usage"]["input_tokens"], 7);
}

#[test]
fn an_error_is_given_so_often_and_then_steps_aside() {
    for (path, body) in [
        (CHAT, chat(0, true)),
        (RESPONSES, responses(json!([]), 0)),
        (MESSAGES, messages(0, true)),
        (GENERATE, generate(0)),
    ] {
        let server = start([error(429, Some(2)), say("ok")]);
        for _ in 0..2 {
            let refused = ask(&server, path, &body);
            assert_eq!(refused.status, 429);
            assert!(refused.head.contains("\r\nretry-after: 7"), "{refused:#?}");
            assert_eq!(refused.json()["error"]["message"], "not now");
        }
        assert_eq!(ask(&server, path, &body).status, 200, "{path}");
        let seen: Vec<_> = server
            .requests()
            .iter()
            .map(|request| request.status)
            .collect();
        assert_eq!(seen, [Some(429), Some(429), Some(200)]);
    }
    let server = start([error(401, None), say("never")]);
    for _ in 0..5 {
        assert_eq!(ask(&server, CHAT, &chat(0, true)).status, 401);
    }
    // An error in the middle waits for its place.
    let server = start([
        Step::Shell("true".to_owned()),
        error(500, Some(1)),
        say("ok"),
    ]);
    let status = |turns| ask(&server, CHAT, &chat(turns, true)).status;
    assert_eq!([status(0), status(1), status(1)], [200, 500, 200]);
}

#[test]
fn the_newest_text_of_the_user_chooses_the_role() {
    let script = Script::new()
        .role("JUDGE", [say("judged")])
        .role("WORK", [say("worked"), say("worked again")])
        .role(
            "system text",
            [say("by the system"), say("by the system again")],
        );
    let server = ModelServer::start(script).unwrap();
    let user = |text: &str| json!({"role": "user", "content": text});
    let answered = json!({"role": "assistant", "content": "x"});
    let tool = json!({"role": "tool", "content": "JUDGE"});
    let system = json!({"role": "developer", "content": "a system text"});
    for (messages, said) in [
        (json!([system, user("WORK")]), "worked"),
        (json!([user("JUDGE"), answered, user("WORK")]), "worked"),
        (json!([user("JUDGE of WORK")]), "judged"),
        // A resumed conversation starts over; words of a tool are nobody's.
        (
            json!([user("WORK"), answered, user("WORK"), answered, tool]),
            "worked again",
        ),
        (json!([system, user("hello")]), "by the system"),
        (
            json!([system, user("a"), answered, user("b"), answered]),
            "by the system again",
        ),
    ] {
        let answer = ask(&server, CHAT, &json!({"messages": messages})).json();
        assert_eq!(
            answer["choices"][0]["message"]["content"], said,
            "{messages}"
        );
    }
    let nobody = ask(&server, CHAT, &json!({"messages": [user("hello")]}));
    assert_eq!(nobody.status, 400);
    assert!(nobody.body.contains("no role"), "{nobody:#?}");
}

#[test]
fn a_request_without_tools_takes_no_step_that_needs_one() {
    let server = start(steps());
    let mut title = chat(0, false);
    title["tools"] = json!([]);
    let answer = ask(&server, CHAT, &title).json();
    assert_eq!(answer["choices"][0]["message"]["content"], "Untitled");
    // Tools that are no use are another thing.
    title["tools"] = json!([{"type": "function", "function": {"name": "fly"}}]);
    let answer = ask(&server, CHAT, &title);
    assert_eq!(answer.status, 400);
    assert!(answer.body.contains("it has: fly"), "{answer:#?}");
}

#[test]
fn a_cut_answer_has_a_beginning_and_no_end() {
    let server = start([Step::Cut]);
    for (path, body) in [
        (CHAT, chat(0, true)),
        (RESPONSES, responses(json!([]), 0)),
        (MESSAGES, messages(0, true)),
        (STREAM, generate(0)),
        (CHAT, chat(0, false)),
    ] {
        let answer = ask(&server, path, &body);
        assert_eq!(answer.status, 200);
        assert!(
            !answer.whole && answer.body.contains("answer"),
            "{path}: {answer:#?}"
        );
        assert!(!answer.body.contains("DONE"), "{answer:#?}");
    }
}

#[test]
fn a_hanging_answer_ends_with_the_server_or_the_client() {
    let server = start([Step::Hang]);
    let body = request(CHAT, "", &chat(0, true).to_string());
    let mut waiting: Vec<_> = (0..3).map(|_| connect(&server)).collect();
    for stream in &mut waiting {
        stream.write_all(body.as_bytes()).unwrap();
    }
    while server.requests().len() < 3 {
        thread::sleep(Duration::from_millis(5));
    }
    assert!(
        server
            .requests()
            .iter()
            .all(|request| request.status.is_none())
    );
    drop(waiting.pop());
    // Another client is served all the same.
    assert_eq!(
        ask(&server, "/v1/messages/count_tokens", &json!({})).status,
        200
    );
    let url = server.url();
    drop(server);
    for mut stream in waiting {
        // Nothing, whether it was closed or reset.
        let mut got = Vec::new();
        drop(stream.read_to_end(&mut got));
        assert!(got.is_empty());
    }
    assert!(TcpStream::connect(url.strip_prefix("http://").unwrap()).is_err());
}

#[test]
fn a_body_may_come_in_chunks_and_only_as_it_is() {
    let server = start([say("ok")]);
    let body = chat(0, false).to_string();
    let (one, two) = body.split_at(20);
    let chunked = format!(
        "POST {CHAT} HTTP/1.1\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n\
         {:X};x=y\r\n{one}\r\n{:x}\r\n{two}\r\n0\r\nTrailer: x\r\n\r\n",
        one.len(),
        two.len()
    );
    assert_eq!(parse(&exchange(&server, chunked.as_bytes())).status, 200);
    let asking = request(CHAT, "Expect: 100-continue\r\n", &body);
    let text = exchange(&server, asking.as_bytes());
    let (first, rest) = text.split_once("\r\n\r\n").unwrap();
    assert_eq!(first, "HTTP/1.1 100 Continue");
    assert_eq!(parse(rest).status, 200);

    let large = "x".repeat(8 << 20);
    for (sent, status, why) in [
        (
            request(CHAT, "Content-Encoding: gzip\r\n", &large),
            415,
            "as it is",
        ),
        (
            request(CHAT, "Transfer-Encoding: gzip\r\n", &large),
            501,
            "chunked",
        ),
        (request(CHAT, "", "{"), 400, "JSON"),
        (
            "POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n".to_owned(),
            413,
            "large",
        ),
        (
            format!("POST / HTTP/1.1\r\nx: {large}\r\n\r\n"),
            431,
            "too long",
        ),
        (
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nfffffff\r\n".to_owned(),
            413,
            "large",
        ),
        (
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n".to_owned(),
            400,
            "chunks",
        ),
        ("GET\r\n\r\n".to_owned(), 400, "HTTP"),
        (
            "GET /v1/nothing HTTP/1.0\r\n\r\n".to_owned(),
            404,
            "nothing here",
        ),
    ] {
        let answer = parse(&exchange(&server, sent.as_bytes()));
        assert_eq!(answer.status, status, "{answer:#?}");
        assert!(
            answer.json()["error"]["message"]
                .as_str()
                .unwrap()
                .contains(why),
            "{answer:#?}"
        );
    }
}

#[test]
fn one_connection_takes_several_requests() {
    let server = start([say("ok")]);
    let mut stream = connect(&server);
    let body = chat(0, true).to_string();
    let keep = request(CHAT, "", &body).replace("Connection: close\r\n", "");
    let hello = "HEAD / HTTP/1.1\r\n\r\n";
    let models = "GET /v1/models?x=y HTTP/1.1\r\nConnection: close\r\n\r\n";
    stream
        .write_all(format!("{keep}{hello}{keep}{models}").as_bytes())
        .unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    assert_eq!(text.matches("HTTP/1.1 200").count(), 4, "{text}");
    assert!(text.contains("\"id\":\"scripted\""), "{text}");
    let paths: Vec<_> = server
        .requests()
        .into_iter()
        .map(|request| request.path)
        .collect();
    assert_eq!(paths, [CHAT, "/", CHAT, "/v1/models"]);
}

#[test]
fn clients_beyond_the_limit_are_turned_away_and_the_others_served() {
    let server = start([say("ok")]);
    let held: Vec<_> = (0..64).map(|_| connect(&server)).collect();
    let turned = parse(&exchange(&server, b""));
    assert_eq!(turned.status, 503);
    drop(held);
    // Those that left make room for others, which all talk at once.
    while ask(&server, CHAT, &chat(0, true)).status != 200 {}
    thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| assert_eq!(ask(&server, CHAT, &chat(0, true)).status, 200));
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    // Whatever a client sends, it gets an answer or an end, and the next one is served.
    #[test]
    fn no_bytes_break_the_server(bytes in proptest::collection::vec(any::<u8>(), 0..400), shape in any::<Option<bool>>()) {
        let server = start([say("ok")]);
        let mut sent = match shape {
            None => Vec::new(),
            Some(true) => format!("POST {CHAT} HTTP/1.1\r\nContent-Length: {}\r\n\r\n", bytes.len()).into_bytes(),
            Some(false) => format!("POST {CHAT} HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n").into_bytes(),
        };
        sent.extend(&bytes);
        let mut stream = connect(&server);
        // The server may have refused already.
        drop(stream.write_all(&sent));
        drop(stream.shutdown(Shutdown::Write));
        let mut got = Vec::new();
        let ended = stream.read_to_end(&mut got);
        prop_assert!(ended.is_ok() || ended.is_err_and(|error| error.kind() == std::io::ErrorKind::ConnectionReset));
        prop_assert_eq!(ask(&server, CHAT, &chat(0, false)).status, 200);
    }
}
