//! The APIs that the server speaks, by their paths.

/// How a model is talked to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Api {
    /// `POST /chat/completions`.
    Chat,
    /// `POST /responses`.
    Responses,
    /// `POST /messages`.
    Messages,
    /// `POST /models/NAME:generateContent` and `:streamGenerateContent`.
    Generate,
}

/// What a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Route {
    /// An answer of the model; a `true` asks for events whatever the body says.
    Talk(Api, bool),
    /// How many tokens a conversation has; the name of the number in the answer.
    Count(&'static str),
    /// Which models there are.
    Models,
    /// Whether anybody is there.
    Hello,
}

impl Route {
    /// Returns what a method and a path without its query are for.
    pub(super) fn of(method: &str, path: &str) -> Option<Self> {
        let ends = |end: &str| path.ends_with(end);
        match method {
            "HEAD" => Some(Self::Hello),
            "GET" if ends("/models") => Some(Self::Models),
            "POST" if ends("/chat/completions") => Some(Self::Talk(Api::Chat, false)),
            "POST" if ends("/responses") => Some(Self::Talk(Api::Responses, false)),
            "POST" if ends("/messages") => Some(Self::Talk(Api::Messages, false)),
            "POST" if ends(":generateContent") => Some(Self::Talk(Api::Generate, false)),
            "POST" if ends(":streamGenerateContent") => Some(Self::Talk(Api::Generate, true)),
            "POST" if ends("/messages/count_tokens") => Some(Self::Count("input_tokens")),
            "POST" if ends(":countTokens") => Some(Self::Count("totalTokens")),
            _ => None,
        }
    }
}
