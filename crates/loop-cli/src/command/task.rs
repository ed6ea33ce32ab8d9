//! `loop task`: the task tracker.

use super::ask::tell;
use super::create::read_brief;
use crate::args::TaskCommand;
use crate::context::{self, Context};
use crate::failure::Failure;
use crate::show;
use loop_core::control::Request;
use loop_core::exit;
use loop_core::phase::Phases;
use loop_core::state::State;
use loop_core::task::{Origin, Task};
use loop_runner::driver;
use loop_runner::store::{Answered, LoopDir, read_state};
use loop_runner::tasks::{
    ChangeError, CreateError, Listed, Mover, NewTask, ReadError, Tasks, check_name,
};
use loop_worksource::slugify;
use serde_json::json;
use std::env;

/// Runs one of the commands about tasks.
pub(crate) fn run(context: &Context, command: &TaskCommand) -> Result<u8, Failure> {
    let tasks = Tasks::new(context.around.project.data());
    match command {
        TaskCommand::Create {
            name, title, brief, ..
        } => create(context, &tasks, name, title.as_deref(), brief.as_deref()),
        TaskCommand::List(args) => list(&tasks, args.json),
        TaskCommand::Show { task, json } => show_one(&tasks, task, *json),
        TaskCommand::Transition { task, to, json } => {
            transition(context, &tasks, task, to.as_deref(), *json)
        }
        TaskCommand::Approve { task, json } => approve(context, &tasks, task, *json),
    }
}

fn create(
    context: &Context,
    tasks: &Tasks,
    name: &str,
    title: Option<&str>,
    brief: Option<&str>,
) -> Result<u8, Failure> {
    context.person_only("make a task")?;
    let folder = folder_for(name)?;
    let brief = brief.map(read_brief).transpose()?;
    context
        .around
        .project
        .init()
        .map_err(|error| Failure::of(&error))?;
    let task = tasks
        .create(&NewTask {
            name: &folder,
            title: title.unwrap_or(name),
            brief: brief.as_deref(),
            phases: Phases::default(),
            origin: Origin::person(),
            at: context.around.clock.now(),
        })
        .map_err(|error| match error {
            CreateError::Name(name) => Failure::usage(name.to_string()),
            error => Failure::of(&error),
        })?;
    show::json(&json!({"task": task.name, "phase": task.phase, "created": true}))?;
    Ok(exit::DONE)
}

/// Keeps a name that can be a folder's, and makes one of any other text.
fn folder_for(name: &str) -> Result<String, Failure> {
    if name.trim().is_empty() {
        return Err(Failure::usage(
            "the task's name is empty; say what it is about",
        ));
    }
    Ok(match check_name(name) {
        Ok(()) => name.to_owned(),
        Err(_) => slugify(name),
    })
}

fn list(tasks: &Tasks, as_json: bool) -> Result<u8, Failure> {
    let listed = tasks.list().map_err(|error| Failure::of(&error))?;
    if as_json {
        let rows: Vec<_> = listed.iter().map(row).collect();
        show::json(&json!({"v": 1, "tasks": rows}))?;
        return Ok(exit::DONE);
    }
    if listed.is_empty() {
        show::line("no tasks; make one with: loop task create NAME --brief TEXT");
    }
    for task in &listed {
        let (phase, title) = match &task.record {
            Ok(Some(record)) => (record.phase.as_str(), record.title.clone()),
            Ok(None) => ("-", "no record".to_owned()),
            Err(error) => ("?", error.to_string()),
        };
        show::line(format!(
            "{:<24} {phase:<20} {}",
            task.name,
            show::one_line(&title)
        ));
    }
    Ok(exit::DONE)
}

fn row(task: &Listed) -> serde_json::Value {
    match &task.record {
        Ok(Some(record)) => json!({
            "name": record.name, "title": record.title, "phase": record.phase, "error": null,
        }),
        Ok(None) => json!({"name": task.name, "title": null, "phase": null, "error": null}),
        Err(error) => json!({
            "name": task.name, "title": null, "phase": null, "error": error.to_string(),
        }),
    }
}

fn show_one(tasks: &Tasks, name: &str, as_json: bool) -> Result<u8, Failure> {
    let task = tasks.read(name).map_err(|error| unreadable(&error))?;
    let documents = tasks.documents(name).map_err(|error| unreadable(&error))?;
    if as_json {
        show::json(&json!({"v": 1, "task": task, "documents": documents}))?;
        return Ok(exit::DONE);
    }
    show::field("task", name);
    match &task {
        Some(task) => show_record(task),
        None => show::field("phase", "no record: it has documents only"),
    }
    let folder = tasks
        .path(name)
        .map_err(|error| Failure::usage(error.to_string()))?;
    show::field("folder", folder.display().to_string());
    show::field("documents", documents.join(", "));
    Ok(exit::DONE)
}

fn show_record(task: &Task) {
    show::field("title", &task.title);
    show::field("phase", &task.phase);
    show::field("phases", task.phases.join(", "));
    show::field("approval", task.approval_phases.join(", "));
    for step in &task.history {
        let what = format!("{} {} to {} by {}", step.at, step.from, step.to, step.by);
        show::field("moved", what);
    }
}

/// A person's move is made at once; orchestrate's is a request to its tick.
fn transition(
    context: &Context,
    tasks: &Tasks,
    task: &str,
    to: Option<&str>,
    as_json: bool,
) -> Result<u8, Failure> {
    match context::role() {
        None => {
            let moved = tasks
                .transition(task, to, mover(context, &context::user()))
                .map_err(|error| not_moved(&error))?;
            tell_moved(&moved, as_json)?;
            Ok(exit::DONE)
        }
        Some(role) if role == "orchestrate" => orchestrate_asks(context, task, to, as_json),
        Some(_) => {
            context.person_only("move a task")?;
            Ok(exit::REFUSED)
        }
    }
}

/// Says where a task is after a move.
fn tell_moved(task: &Task, as_json: bool) -> Result<(), Failure> {
    if as_json {
        return show::json(&json!({"v": 1, "task": task}));
    }
    show::line(format!("{} is in `{}` now", task.name, task.phase));
    Ok(())
}

fn orchestrate_asks(
    context: &Context,
    task: &str,
    to: Option<&str>,
    as_json: bool,
) -> Result<u8, Failure> {
    let variable = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
    let tick = variable("AUTOMATON_TICK").and_then(|tick| tick.parse().ok());
    let (Some(name), Some(tick)) = (variable("AUTOMATON_LOOP"), tick) else {
        return Err(Failure::refused(
            "AUTOMATON_LOOP and AUTOMATON_TICK do not say which tick orchestrates",
        ));
    };
    context.loop_exists(&name)?;
    let request = Request::Transition {
        tick,
        task: task.to_owned(),
        to: to.map(str::to_owned),
    };
    let answered = driver::request(&context.around, &name, request, "orchestrate", None)
        .map_err(|error| Failure::refused(Failure::of(&error).to_string()))?;
    match answered {
        Answered::Done(requested) if !requested.accepted => Err(Failure::refused(requested.said)),
        Answered::Done(requested) if as_json => {
            // The tick makes the move when orchestrate has ended.
            show::json(&json!({"v": 1, "task": task, "said": requested.said}))?;
            Ok(exit::DONE)
        }
        answered => tell(&name, Ok(answered)),
    }
}

fn approve(context: &Context, tasks: &Tasks, task: &str, as_json: bool) -> Result<u8, Failure> {
    context.person_only("approve a task")?;
    let moved = tasks
        .approve(task, mover(context, &context::user()))
        .map_err(|error| not_moved(&error))?;
    if !as_json {
        tell_moved(&moved, false)?;
    }
    let code = tell_waiting_loops(context, task, as_json)?;
    if as_json {
        tell_moved(&moved, true)?;
    }
    Ok(code)
}

/// A loop that waits for this very approval goes on, too (state.md, "Tasks").
fn tell_waiting_loops(context: &Context, task: &str, quiet: bool) -> Result<u8, Failure> {
    let names = context
        .around
        .project
        .loops()
        .map_err(|error| Failure::of(&error))?;
    for name in names {
        let dir = LoopDir::new(context.around.project.loop_dir(&name));
        let Ok(snapshot) = read_state(&dir) else {
            continue;
        };
        if let Some(request) = awaited(&snapshot.state, task) {
            let user = context::user();
            let answered = driver::request(&context.around, &name, request, &user, None);
            match answered {
                Ok(Answered::Done(requested)) if quiet && requested.accepted => {}
                answered => _ = tell(&name, answered)?,
            }
        }
    }
    Ok(exit::DONE)
}

/// Returns what a loop is asked when `task` was approved; `None` when it does not
/// wait for that.
fn awaited(state: &State, task: &str) -> Option<Request> {
    let waits = state
        .awaiting
        .as_ref()
        .is_some_and(|awaited| awaited.task == task);
    let aside = state.parked.contains_key(task) && state.progress_of(task).awaiting.is_some();
    (waits || aside).then(|| Request::Approve {
        task: aside.then(|| task.to_owned()),
    })
}

fn mover<'a>(context: &Context, by: &'a str) -> Mover<'a> {
    Mover {
        by,
        loop_name: None,
        at: context.around.clock.now(),
    }
}

fn not_moved(error: &ChangeError) -> Failure {
    match error {
        ChangeError::Read(error) => unreadable(error),
        error => Failure::of(error),
    }
}

fn unreadable(error: &ReadError) -> Failure {
    match error {
        ReadError::Missing { .. } => Failure::failed(format!(
            "{error}; loop task list shows those that there are"
        )),
        error => Failure::of(error),
    }
}
