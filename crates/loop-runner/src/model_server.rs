//! A model that answers from a script, for tests of agents without an account or a network.
//!
//! The server listens on this machine only and speaks the common APIs of
//! models: chat completions, responses, messages and generated content, whole
//! or as events. It ends with its handle.
//!
//! ```
//! use loop_runner::model_server::{ModelServer, Script, Step};
//!
//! let script = Script::new().role("fix the parser", [
//!     Step::Write { path: "parser.txt".to_owned(), content: "fixed\n".to_owned() },
//!     Step::Say("done".to_owned()),
//! ]);
//! let server = ModelServer::start(script)?;
//! // Point an agent to `server.url()`, and look at `server.requests()` afterwards.
//! assert!(server.requests().is_empty());
//! # Ok::<_, std::io::Error>(())
//! ```

mod act;
mod api;
mod conversation;
mod encode;
mod http;
mod reply;
mod request;
mod script;
mod serve;

pub use api::Api;
pub use request::Request;
pub use script::{Script, Step, Usage};

use serve::Shared;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// A running server; it ends, with every connection, when this is dropped.
#[derive(Debug)]
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    listener: Option<JoinHandle<()>>,
}

impl ModelServer {
    /// Starts to answer from a script, on a free port.
    ///
    /// # Errors
    ///
    /// When the system gives no port or no thread.
    pub fn start(script: Script) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared::new(script));
        let serving = Arc::clone(&shared);
        let builder = thread::Builder::new().name("model-server".to_owned());
        Ok(Self {
            address,
            shared,
            listener: Some(builder.spawn(move || serve::listen(&listener, &serving))?),
        })
    }

    /// Returns where the server is, without a slash at the end: `http://127.0.0.1:40123`.
    ///
    /// Every API is found below any prefix, so an agent may append `/v1`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the requests so far, in order; of very many, the last 4,096.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        self.shared.requests()
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.shared.stop();
        // The listener waits for a client: be one, so that it looks up.
        let woken = TcpStream::connect_timeout(&self.address, Duration::from_secs(1));
        if let (Ok(_), Some(listener)) = (woken, self.listener.take()) {
            drop(listener.join());
        }
    }
}
