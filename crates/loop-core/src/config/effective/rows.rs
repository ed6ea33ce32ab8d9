//! The settings, section by section.

use std::fmt::Display;
use std::time::Duration;

use serde::Serialize;

use super::{Effective, Enforced, Origin};
use crate::config::{Argv, Config, Harness, HarnessRef, Role, Supported, WorkSourceKind};

/// The rows gathered so far.
pub(super) struct Rows<'a> {
    config: &'a Config,
    not_enforced: Vec<String>,
    rows: Vec<Effective>,
}

impl<'a> Rows<'a> {
    pub(super) fn of(config: &'a Config, supported: &Supported) -> Vec<Effective> {
        let mut rows = Self {
            config,
            not_enforced: config.not_enforced(supported),
            rows: Vec::new(),
        };
        rows.work_source();
        rows.criteria();
        rows.roles();
        rows.shared_harness();
        rows.gate();
        rows.brakes();
        rows.caps();
        rows.blast_radius();
        rows.schedule();
        rows.phases();
        rows.notify();
        rows.rows
    }

    fn work_source(&mut self) {
        let source = self.config.work_source();
        let kind = source.kind();
        self.put("work_source.kind", source.kind.is_some(), kind.name());
        self.put_given("work_source.project", source.project.as_ref());
        self.put_given("work_source.area", source.area.as_ref());
        self.put_given("work_source.section", source.section.as_ref());
        self.put_given("work_source.task", source.task.as_ref());
        self.put_given("work_source.command", source.command.as_ref().map(argv));
        self.put_given(
            "work_source.done_command",
            source.done_command.as_ref().map(argv),
        );
        if kind == WorkSourceKind::Command {
            let given = source.timeout_seconds.is_some();
            self.put(
                "work_source.timeout_seconds",
                given,
                seconds(source.timeout()),
            );
        }
        if kind == WorkSourceKind::Backlog {
            self.put(
                "work_source.tick_when_done",
                source.tick_when_done.is_some(),
                source.tick_when_done(),
            );
        }
    }

    fn criteria(&mut self) {
        match self.config.acceptance_criteria() {
            Some(criteria) => self.put("acceptance_criteria", true, criteria),
            None => self.off("acceptance_criteria", false, "none"),
        }
    }

    fn roles(&mut self) {
        let config = self.config;
        for (name, role) in config.roles().all() {
            let key = format!("roles.{name}");
            match role {
                Some(role) => self.role(&key, role),
                None if name == "implement" || (name == "verify" && config.has_judge()) => {
                    self.put(&key, false, "called without a prompt");
                }
                None => self.off(&key, false, "not called"),
            }
        }
    }

    fn role(&mut self, key: &str, role: &Role) {
        match &role.prompt {
            Some(prompt) => self.put(&format!("{key}.prompt"), true, prompt),
            None => self.off(&format!("{key}.prompt"), false, "none"),
        }
        if let Some(choice) = &role.harness {
            self.harnesses(&format!("{key}.harness"), choice.as_slice());
        }
        if let Some(tier) = &role.tier {
            self.off(
                &format!("{key}.tier"),
                true,
                format!("{tier}; has no effect"),
            );
        }
        self.put_given(&format!("{key}.context_window"), role.context_window());
    }

    fn shared_harness(&mut self) {
        match self.config.harness() {
            Some(choice) => self.harnesses("harness", choice.as_slice()),
            None => self.harness("harness", &Harness::default()),
        }
    }

    fn harnesses(&mut self, key: &str, harnesses: &[HarnessRef]) {
        for (index, harness) in harnesses.iter().enumerate() {
            let key = if harnesses.len() == 1 {
                key.to_owned()
            } else {
                format!("{key}[{index}]")
            };
            match harness {
                HarnessRef::Profile(name) => self.put(&key, true, format!("the profile {name}")),
                HarnessRef::Described(harness) => self.harness(&key, harness),
            }
        }
    }

    fn harness(&mut self, key: &str, harness: &Harness) {
        let at = |name: &str| format!("{key}.{name}");
        self.put_given(&at("profile"), harness.profile.as_ref());
        match (harness.command(), &harness.profile) {
            (Some(command), _) => self.put(&at("command"), true, argv(command)),
            (None, Some(_)) => self.put(&at("command"), false, "the profile's"),
            (None, None) => self.put(&at("command"), false, "the default command"),
        }
        self.put(
            &at("prompt_via"),
            harness.prompt_via.is_some(),
            word(harness.prompt_via()),
        );
        self.put(
            &at("timeout_seconds"),
            harness.timeout_seconds.is_some(),
            seconds(harness.timeout()),
        );
        match harness.idle_timeout() {
            Some(timeout) => self.put(&at("idle_timeout_seconds"), true, seconds(timeout)),
            None => self.off(&at("idle_timeout_seconds"), false, "off"),
        }
        self.put_given(&at("cost_per_call_usd"), harness.cost_per_call());
        let without_effect = [
            ("prompt_var", &harness.prompt_var),
            ("cwd_var", &harness.cwd_var),
            ("output_var", &harness.output_var),
        ];
        for (name, value) in without_effect {
            if let Some(value) = value {
                self.off(&at(name), true, format!("{value}; has no effect"));
            }
        }
    }

    fn gate(&mut self) {
        let Some(gate) = self.config.gate() else {
            return self.off("gate", false, "none");
        };
        self.put("gate.command", true, argv(&gate.command));
        self.put("gate.frozen", gate.frozen.is_some(), list(gate.frozen()));
        self.put(
            "gate.timeout_seconds",
            gate.timeout_seconds.is_some(),
            seconds(gate.timeout()),
        );
        self.put_given("gate.min_tests", gate.min_tests());
        self.put(
            "gate.must_start_red",
            gate.must_start_red.is_some(),
            self.config.must_start_red(),
        );
        self.put_given("gate.setup", gate.setup.as_ref().map(argv));
        self.put("gate.where", gate.place.is_some(), word(gate.place()));
        self.put_given("gate.overlay", gate.overlay.as_ref());
        self.put_given("gate.report", gate.report.as_ref());
        self.put("gate.prove", gate.prove.is_some(), gate.prove());
    }

    fn brakes(&mut self) {
        let brakes = self.config.brakes();
        let iterations = brakes.max_iterations().map(|count| count.to_string());
        self.or_off(
            "brakes.max_iterations",
            brakes.max_iterations.is_some(),
            iterations,
            "unlimited",
        );
        let window = brakes
            .score_plateau_window()
            .map(|scores| format!("{scores} scores"));
        self.or_off(
            "brakes.score_plateau_window",
            brakes.score_plateau_window.is_some(),
            window,
            "off",
        );
        self.put(
            "brakes.score_plateau_delta",
            brakes.score_plateau_delta.is_some(),
            brakes.score_plateau_delta(),
        );
        self.put(
            "brakes.min_score",
            brakes.min_score.is_some(),
            brakes.min_score(),
        );
        let failures = format!("{} in a row", brakes.max_harness_failures());
        self.put(
            "brakes.max_harness_failures",
            brakes.max_harness_failures.is_some(),
            failures,
        );
        let window = brakes
            .no_progress_window()
            .map(|attempts| format!("{attempts} attempts"));
        self.or_off(
            "brakes.no_progress_window",
            brakes.no_progress_window.is_some(),
            window,
            "off",
        );
        let wall = brakes.max_wall().map(seconds);
        self.or_off(
            "brakes.max_wall_seconds",
            brakes.max_wall_seconds.is_some(),
            wall,
            "unlimited",
        );
        self.put(
            "brakes.on_trip",
            brakes.on_trip.is_some(),
            word(brakes.on_trip()),
        );
    }

    fn caps(&mut self) {
        let brakes = self.config.brakes();
        let given = |value: Option<u32>| value.map(|value| value.to_string());
        let ticks = given(brakes.max_ticks_per_day());
        self.or_off("brakes.max_ticks_per_day", ticks.is_some(), ticks, "no cap");
        let tokens = given(brakes.max_tokens());
        self.or_off("brakes.max_tokens", tokens.is_some(), tokens, "no cap");
        let cost = brakes.max_cost().map(|cost| format!("{cost} USD"));
        self.or_off(
            "brakes.max_cost_usd",
            cost.is_some(),
            cost,
            &self.config.no_cost_cap(),
        );
        if let (Err(unknown), Some(row)) = (self.config.cost_enforceable(), self.rows.last_mut()) {
            row.enforced = Enforced::No(unknown.to_string());
        }
    }

    fn blast_radius(&mut self) {
        let radius = self.config.blast_radius();
        self.put(
            "blast_radius.use_worktree",
            radius.use_worktree.is_some(),
            radius.use_worktree(),
        );
        if radius.use_worktree() {
            let purpose = word(self.config.worktree_for());
            self.put(
                "blast_radius.worktree_for",
                radius.worktree_for.is_some(),
                purpose,
            );
        }
        self.put_given("blast_radius.setup", radius.setup.as_ref().map(argv));
        self.list(
            "blast_radius.copy",
            radius.copy.is_some(),
            radius.copy(),
            "nothing",
        );
        self.list(
            "blast_radius.file_scope",
            radius.file_scope.is_some(),
            radius.file_scope(),
            "everywhere",
        );
        self.list(
            "blast_radius.protect",
            radius.protect.is_some(),
            radius.protect(),
            "nothing",
        );
        self.put(
            "blast_radius.sandbox",
            radius.sandbox.is_some(),
            word(radius.sandbox()),
        );
        self.list(
            "blast_radius.writable",
            radius.writable.is_some(),
            radius.writable(),
            "nothing more",
        );
        self.list(
            "blast_radius.deny_read",
            radius.deny_read.is_some(),
            radius.deny_read(),
            "nothing",
        );
        self.put_given("blast_radius.git", radius.git.map(word));
        self.put_given("blast_radius.watch", radius.watch.map(word));
    }

    fn schedule(&mut self) {
        let Some(schedule) = self.config.schedule() else {
            return self.off("schedule", false, "none");
        };
        self.put_given(
            "schedule.interval_seconds",
            schedule.interval().map(seconds),
        );
        self.put_given("schedule.cron", schedule.cron.as_ref());
        self.put_given("schedule.timezone", schedule.timezone.as_ref());
        self.put_given("schedule.window", schedule.window);
    }

    fn phases(&mut self) {
        let settings = &self.config.settings;
        self.list(
            "phases",
            settings.phases.is_some(),
            self.config.phases(),
            "none",
        );
        let approval = self.config.approval_phases();
        self.list(
            "approval_phases",
            settings.approval_phases.is_some(),
            approval,
            "none",
        );
    }

    fn notify(&mut self) {
        let config = self.config;
        for (index, notify) in config.notify().iter().enumerate() {
            let value = format!("{} on {}", argv(&notify.command), list(&notify.on));
            self.put(&format!("notify[{index}]"), true, value);
        }
    }

    fn put_given(&mut self, key: &str, value: Option<impl Display>) {
        if let Some(value) = value {
            self.put(key, true, value);
        }
    }

    fn or_off(&mut self, key: &str, given: bool, value: Option<String>, off: &str) {
        match value {
            Some(value) => self.put(key, given, value),
            None => self.off(key, given, off),
        }
    }

    fn list(&mut self, key: &str, given: bool, items: &[impl ToString], none: &str) {
        self.or_off(key, given, (!items.is_empty()).then(|| list(items)), none);
    }

    fn put(&mut self, key: &str, given: bool, value: impl Display) {
        let enforced = match self
            .not_enforced
            .iter()
            .any(|path| is_at_or_below(key, path))
        {
            true => Enforced::No("this version does not have it".to_owned()),
            false => Enforced::Yes,
        };
        self.push(key, given, value, enforced);
    }

    fn off(&mut self, key: &str, given: bool, value: impl Display) {
        self.push(key, given, value, Enforced::Off);
    }

    fn push(&mut self, key: &str, given: bool, value: impl Display, enforced: Enforced) {
        let from = if given { Origin::File } else { Origin::Default };
        self.rows.push(Effective {
            key: key.to_owned(),
            value: value.to_string(),
            from,
            enforced,
        });
    }
}

fn is_at_or_below(key: &str, path: &str) -> bool {
    key.strip_prefix(path)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// Shows a command as the array that it is, so that every argument's ends are seen.
fn argv(command: &Argv) -> String {
    let arguments: Vec<_> = command
        .as_slice()
        .iter()
        .map(|argument| format!("{argument:?}"))
        .collect();
    format!("[{}]", arguments.join(", "))
}

fn list(items: &[impl ToString]) -> String {
    items
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(", ")
}

fn seconds(time: Duration) -> String {
    format!("{} s", time.as_secs())
}

/// Shows a choice as the word that stands for it in the file.
fn word(choice: impl Serialize) -> String {
    serde_json::to_string(&choice)
        .unwrap_or_default()
        .trim_matches('"')
        .to_owned()
}
