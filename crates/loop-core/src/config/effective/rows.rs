//! The settings, section by section.

use super::table::{Section, Table, argv, list, seconds, word};
use super::{Effective, Enforced};
use crate::config::UnknownUse;
use crate::config::{
    Brakes, Config, Gate, Harness, HarnessChoice, HarnessRef, Role, Supported, WorkSourceKind,
};
use crate::harness::{CalledHarness, Harnesses};

/// Lists every setting in the order of the file's documentation.
pub(super) fn rows(
    config: &Config,
    supported: &Supported,
    harnesses: &Harnesses,
) -> Vec<Effective> {
    let mut table = Table::new(config.not_enforced(supported));
    work_source(&mut table.section("work_source"), config);
    match config.acceptance_criteria() {
        Some(criteria) => table.section("acceptance_criteria").put("", true, criteria),
        None => table.section("acceptance_criteria").off("", false, "none"),
    }
    roles(&mut table, config, harnesses);
    let choice = config.harness().map_or(&[][..], HarnessChoice::as_slice);
    harness_list(&mut table, "harness", choice, harnesses.shared());
    match config.gate() {
        Some(described) => gate(
            &mut table.section("gate"),
            described,
            config.must_start_red(),
        ),
        None => table.section("gate").off("", false, "none"),
    }
    brakes(&mut table.section("brakes"), config.brakes());
    caps(&mut table.section("brakes"), config, harnesses);
    blast_radius(&mut table.section("blast_radius"), config);
    schedule(&mut table.section("schedule"), config);
    phases(&mut table, config);
    for (index, notify) in config.notify().iter().enumerate() {
        let told = format!("{} on {}", argv(&notify.command), list(&notify.on));
        table
            .section(&format!("notify[{index}]"))
            .put("", true, told);
    }
    table.into_rows()
}

fn work_source(section: &mut Section<'_>, config: &Config) {
    let source = config.work_source();
    section.put("kind", source.kind.is_some(), source.kind().name());
    section.given("project", source.project.as_ref());
    section.given("area", source.area.as_ref());
    section.given("section", source.section.as_ref());
    section.given("task", source.task.as_ref());
    section.given("command", source.command.as_ref().map(argv));
    section.given("done_command", source.done_command.as_ref().map(argv));
    if source.kind() == WorkSourceKind::Command {
        let given = source.timeout_seconds.is_some();
        section.put("timeout_seconds", given, seconds(source.timeout()));
    }
    if source.kind() == WorkSourceKind::Backlog {
        let given = source.tick_when_done.is_some();
        section.put("tick_when_done", given, source.tick_when_done());
    }
}

fn roles(table: &mut Table, config: &Config, harnesses: &Harnesses) {
    for (name, described) in config.roles().all() {
        let key = format!("roles.{name}");
        let is_called = name == "implement" || (name == "verify" && config.has_judge());
        match described {
            Some(described) => role(table, &key, described, harnesses.of_name(name)),
            None if is_called => table
                .section(&key)
                .put("", false, "called without a prompt"),
            None => table.section(&key).off("", false, "not called"),
        }
    }
}

fn role(table: &mut Table, key: &str, role: &Role, called: &[CalledHarness]) {
    let mut section = table.section(key);
    section.or_off(
        "prompt",
        role.prompt.is_some(),
        role.prompt.as_ref(),
        "none",
    );
    if let Some(tier) = &role.tier {
        section.off("tier", true, format!("{tier}; has no effect"));
    }
    section.given("context_window", role.context_window());
    if let Some(choice) = &role.harness {
        harness_list(table, &format!("{key}.harness"), choice.as_slice(), called);
    }
}

/// Lists the harnesses at `key`: as they are described, and as they are called.
fn harness_list(table: &mut Table, key: &str, choice: &[HarnessRef], called: &[CalledHarness]) {
    for (index, called) in called.iter().enumerate() {
        let key = if choice.len() > 1 {
            format!("{key}[{index}]")
        } else {
            key.to_owned()
        };
        let mut section = table.section(&key);
        let described = match choice.get(index) {
            Some(HarnessRef::Profile(name)) => {
                section.put("", true, format!("the profile {name}"));
                Harness::default()
            }
            Some(HarnessRef::Described(described)) => (**described).clone(),
            None => Harness::default(),
        };
        harness(&mut section, &described, called);
    }
}

fn harness(section: &mut Section<'_>, harness: &Harness, called: &CalledHarness) {
    section.given("profile", harness.profile.as_ref());
    let command = if called.is_default {
        "the default command".to_owned()
    } else {
        argv(&called.command)
    };
    section.put("command", harness.command().is_some(), command);
    section.put(
        "prompt_via",
        harness.prompt_via.is_some(),
        word(called.prompt_via),
    );
    section.put(
        "timeout_seconds",
        harness.timeout_seconds.is_some(),
        seconds(harness.timeout()),
    );
    let idle = called.idle_timeout.map(seconds);
    let given = harness.idle_timeout().is_some();
    section.or_off("idle_timeout_seconds", given, idle, "off");
    if let Some(env) = &harness.env {
        let set = env.set.as_ref().map(|set| list(set.keys()));
        section.given("env.set", set);
        section.given("env.unset", env.unset.as_ref().map(list));
        section.given("env.pass", env.pass.as_ref().map(list));
    }
    section.given("cost_per_call_usd", harness.cost_per_call());
    let without_effect = [
        ("prompt_var", &harness.prompt_var),
        ("cwd_var", &harness.cwd_var),
        ("output_var", &harness.output_var),
    ];
    for (name, value) in without_effect {
        if let Some(value) = value {
            section.off(name, true, format!("{value}; has no effect"));
        }
    }
}

fn gate(section: &mut Section<'_>, gate: &Gate, must_start_red: bool) {
    section.put("command", true, argv(&gate.command));
    section.list("frozen", gate.frozen.as_deref(), "nothing");
    section.put(
        "timeout_seconds",
        gate.timeout_seconds.is_some(),
        seconds(gate.timeout()),
    );
    section.given("min_tests", gate.min_tests());
    section.put(
        "must_start_red",
        gate.must_start_red.is_some(),
        must_start_red,
    );
    section.given("setup", gate.setup.as_ref().map(argv));
    section.put("where", gate.place.is_some(), word(gate.place()));
    section.given("overlay", gate.overlay.as_ref());
    section.given("report", gate.report.as_ref());
    section.put("prove", gate.prove.is_some(), gate.prove());
}

fn brakes(section: &mut Section<'_>, brakes: &Brakes) {
    let iterations = brakes.max_iterations();
    section.or_off(
        "max_iterations",
        brakes.max_iterations.is_some(),
        iterations,
        "unlimited",
    );
    let window = brakes
        .score_plateau_window()
        .map(|scores| format!("{scores} scores"));
    section.or_off(
        "score_plateau_window",
        brakes.score_plateau_window.is_some(),
        window,
        "off",
    );
    let delta = brakes.score_plateau_delta();
    section.put(
        "score_plateau_delta",
        brakes.score_plateau_delta.is_some(),
        delta,
    );
    section.put("min_score", brakes.min_score.is_some(), brakes.min_score());
    let failures = format!("{} in a row", brakes.max_harness_failures());
    section.put(
        "max_harness_failures",
        brakes.max_harness_failures.is_some(),
        failures,
    );
    let window = brakes
        .no_progress_window()
        .map(|attempts| format!("{attempts} attempts"));
    section.or_off(
        "no_progress_window",
        brakes.no_progress_window.is_some(),
        window,
        "off",
    );
    let wall = brakes.max_wall().map(seconds);
    section.or_off(
        "max_wall_seconds",
        brakes.max_wall_seconds.is_some(),
        wall,
        "unlimited",
    );
    section.put("on_trip", brakes.on_trip.is_some(), word(brakes.on_trip()));
}

/// Lists the caps, which have no default.
fn caps(section: &mut Section<'_>, config: &Config, harnesses: &Harnesses) {
    let brakes = config.brakes();
    let ticks = brakes.max_ticks_per_day();
    section.or_off("max_ticks_per_day", ticks.is_some(), ticks, "no cap");
    let tokens = brakes.max_tokens();
    match (tokens, config.tokens_known(harnesses)) {
        (Some(cap), Err(unknown)) => {
            section.push("max_tokens", true, cap.to_string(), unheld(&unknown));
        }
        (tokens, _) => section.or_off("max_tokens", tokens.is_some(), tokens, "no cap"),
    }
    let Some(cost) = brakes.max_cost() else {
        return section.off("max_cost_usd", false, config.no_cost_cap(harnesses));
    };
    let cost = format!("{cost} USD");
    match config.cost_known(harnesses) {
        Ok(()) => section.put("max_cost_usd", true, cost),
        Err(unknown) => section.push("max_cost_usd", true, cost, unheld(&unknown)),
    }
}

fn unheld(unknown: &UnknownUse) -> Enforced {
    Enforced::No(unknown.to_string())
}

fn blast_radius(section: &mut Section<'_>, config: &Config) {
    let radius = config.blast_radius();
    section.put(
        "use_worktree",
        radius.use_worktree.is_some(),
        radius.use_worktree(),
    );
    if radius.use_worktree() {
        section.put(
            "worktree_for",
            radius.worktree_for.is_some(),
            word(config.worktree_for()),
        );
    }
    section.given("setup", radius.setup.as_ref().map(argv));
    section.list("copy", radius.copy.as_deref(), "nothing");
    section.list("file_scope", radius.file_scope.as_deref(), "everywhere");
    section.list("protect", radius.protect.as_deref(), "nothing");
    section.put("sandbox", radius.sandbox.is_some(), word(radius.sandbox()));
    section.list("writable", radius.writable.as_deref(), "nothing more");
    section.list("deny_read", radius.deny_read.as_deref(), "nothing");
    section.given("git", radius.git.map(word));
    section.given("watch", radius.watch.map(word));
}

fn schedule(section: &mut Section<'_>, config: &Config) {
    let Some(schedule) = config.schedule() else {
        return section.off("", false, "none");
    };
    section.given("interval_seconds", schedule.interval().map(seconds));
    section.given("cron", schedule.cron.as_ref());
    section.given("timezone", schedule.timezone.as_ref());
    section.given("window", schedule.window);
}

fn phases(table: &mut Table, config: &Config) {
    let given = config.settings.phases.is_some();
    table
        .section("phases")
        .put("", given, list(config.phases()));
    let given = config.settings.approval_phases.is_some();
    let approval = config.approval_phases();
    let approval = (!approval.is_empty()).then(|| list(approval));
    table
        .section("approval_phases")
        .or_off("", given, approval, "none");
}
