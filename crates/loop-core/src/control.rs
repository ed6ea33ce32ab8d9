//! What people, and once a tick orchestrate, ask of a loop.

use crate::state::Frozen;
use serde::{Deserialize, Serialize};

/// A request, as its file in `control/` holds it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Control {
    /// Never used twice; a request with a known id is not done again.
    pub id: String,
    /// What is asked.
    pub request: Request,
    /// The user's name.
    pub by: String,
    /// What the user wants to have remembered with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// What can be asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum Request {
    /// No tick starts until `Resume`; a running one finishes.
    Pause,
    /// Ends a pause.
    Resume,
    /// A person lets a waiting loop go on, or takes a task back that was put aside.
    Approve {
        /// The task; `None` is whatever the loop waits about.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<String>,
    },
    /// A person starts the loop over with a task: what is known of it is forgotten.
    Restart {
        /// The task.
        task: String,
        /// Where it stands.
        phase: Option<String>,
    },
    /// A person says that the acceptance gate of a task is as it should be.
    Freeze {
        /// The task.
        task: String,
        /// What the gate is made of now.
        frozen: Frozen,
    },
    /// A pause that also ends the running step now.
    Stop,
    /// Gives a single loop its task.
    SetTask {
        /// The task.
        task: String,
        /// Where it stands.
        phase: Option<String>,
    },
    /// Orchestrate's one request.
    Transition {
        /// The tick that orchestrate belongs to.
        tick: u64,
        /// The task.
        task: String,
        /// The phase it asks for; `None` is the next one.
        to: Option<String>,
    },
}

/// Why a request was not granted, in one line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{why}")]
pub struct Denied {
    /// What stands against it, and what to do.
    pub why: String,
}

impl Denied {
    pub(crate) fn because(why: impl Into<String>) -> Self {
        Self { why: why.into() }
    }
}

/// What a granted request did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Granted {
    /// In one line, for the person who asked.
    pub what: String,
}
