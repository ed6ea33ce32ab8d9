//! The agents, and how each is called.

use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// An agent CLI.
#[derive(Clone, Copy, Debug)]
pub(super) enum Agent {
    Pi,
    Codex,
    Opencode,
}

impl Agent {
    /// The name of its executable.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Pi => "pi",
            Self::Codex => "codex",
            Self::Opencode => "opencode",
        }
    }

    /// Returns `harness` of a loop.json: how it is called, with everything that
    /// it keeps below `place` and the model at `url`.
    pub(super) fn harness(self, place: &Path, url: &str) -> Value {
        json!({
            "profile": self.name(),
            "env": {"set": self.environment(place, url)},
            "timeout_seconds": 300,
        })
    }

    /// Whether it tells what its calls cost; all tell their tokens.
    pub(super) const fn tells_cost(self) -> bool {
        match self {
            Self::Pi | Self::Opencode => true,
            Self::Codex => false,
        }
    }

    /// Returns the file that it leaves in every repository that it works in, whoever's it is.
    pub(super) const fn leaves_in_repository(self) -> Option<&'static str> {
        match self {
            Self::Pi | Self::Codex => None,
            // Its name for the project, kept where all worktrees find it.
            Self::Opencode => Some(".git/opencode"),
        }
    }

    fn environment(self, place: &Path, url: &str) -> Value {
        let folder = |name: &str| {
            let folder = place.join(name);
            fs::create_dir_all(&folder).unwrap();
            folder.to_str().unwrap().to_owned()
        };
        let mut environment =
            json!({"HOME": folder("home"), "TMPDIR": folder("tmp"), "TERM": "dumb"});
        let own = match self {
            Self::Pi => pi(&folder("config"), url),
            Self::Codex => codex(&folder("config"), url),
            Self::Opencode => opencode(url),
        };
        for (name, value) in own.as_object().unwrap() {
            environment[name] = value.clone();
        }
        environment
    }
}

fn pi(folder: &str, url: &str) -> Value {
    let models = json!({"providers": {"scripted": {
        "baseUrl": format!("{url}/v1"),
        "api": "openai-completions",
        "apiKey": "dummy",
        "models": [{
            "id": "scripted", "name": "Scripted", "reasoning": false, "input": ["text"],
            "contextWindow": 128_000, "maxTokens": 8192,
            "cost": {"input": 3, "output": 15, "cacheRead": 0.3, "cacheWrite": 3.75},
        }],
    }}});
    let settings = json!({"defaultProvider": "scripted", "defaultModel": "scripted"});
    fs::write(format!("{folder}/models.json"), models.to_string()).unwrap();
    fs::write(format!("{folder}/settings.json"), settings.to_string()).unwrap();
    json!({"PI_CODING_AGENT_DIR": folder, "PI_OFFLINE": "1", "PI_TELEMETRY": "0"})
}

fn codex(folder: &str, url: &str) -> Value {
    let config = format!(
        r#"
model = "scripted"
model_provider = "scripted"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.scripted]
name = "scripted"
base_url = "{url}/v1"
env_key = "SCRIPTED_API_KEY"
wire_api = "responses"
request_max_retries = 1
stream_max_retries = 1
"#
    );
    fs::write(format!("{folder}/config.toml"), config).unwrap();
    json!({"CODEX_HOME": folder, "SCRIPTED_API_KEY": "dummy"})
}

fn opencode(url: &str) -> Value {
    let config = json!({
        "autoupdate": false,
        "share": "disabled",
        "model": "scripted/scripted",
        "small_model": "scripted/scripted",
        "enabled_providers": ["scripted"],
        "provider": {"scripted": {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": format!("{url}/v1"), "apiKey": "dummy"},
            "models": {"scripted": {
                "limit": {"context": 128_000, "output": 8192},
                "cost": {"input": 3, "output": 15, "cache_read": 0.3},
            }},
        }},
    });
    json!({
        "OPENCODE_CONFIG_CONTENT": config.to_string(),
        "OPENCODE_DB": ":memory:",
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
    })
}
