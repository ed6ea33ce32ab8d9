//! What can be typed, and nothing else.

use clap::{Args, Command as Clap, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use loop_runner::schedule::Backend;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// Runs coding agents unattended and stops them in time.
#[derive(Debug, Parser)]
#[command(
    name = "loop",
    version,
    disable_help_subcommand = true,
    override_help = include_str!("help.txt"),
    max_term_width = 100
)]
pub(crate) struct Cli {
    /// The project; found from the current directory when absent.
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
    /// Say nothing but results and errors.
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    /// When to use color.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Takes out of a command what is not for people to type.
pub(crate) fn shown(command: Clap) -> Clap {
    let kept: Vec<_> = command
        .get_subcommands()
        .filter(|sub| !sub.is_hide_set())
        .cloned()
        .collect();
    let arguments: Vec<_> = command.get_arguments().cloned().collect();
    Clap::new("loop")
        .about(command.get_about().cloned().unwrap_or_default())
        .version(env!("CARGO_PKG_VERSION"))
        .disable_help_subcommand(true)
        .args(arguments)
        .subcommands(kept)
}

/// When to use color.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Shows a whole loop on a throw-away repository: no account, no network.
    Demo,
    /// Makes the project ready for loops; overwrites nothing.
    Init(Init),
    /// Makes a loop from a template.
    Create(Create),
    /// Makes one tick of a loop.
    Tick(Tick),
    /// Makes ticks in the foreground until the loop is done or stopped.
    Start(Start),
    /// Goes from TASK.md to a green gate: plans, freezes the gate, makes passes.
    Run(Run),
    /// Makes one pass of a run by hand.
    Iterate(Iterate),
    /// Lists the loops of the project.
    List(List),
    /// Shows one loop.
    Show(NamedJson),
    /// Shows what a loop has done.
    Log(Log),
    /// Shows what a loop has changed, new files included.
    Diff(Diff),
    /// Lets a loop that waits for a person go on, or takes back a task it put aside.
    Approve(Approve),
    /// Lets no tick start until `loop resume`; a running one finishes.
    Pause(Ask),
    /// Ends a pause.
    Resume(Ask),
    /// Ends the running tick now, and pauses the loop.
    Stop(Ask),
    /// Gives a loop of the kind `single` its task.
    SetTask(SetTask),
    /// Makes, lists, shows and moves tasks.
    #[command(subcommand)]
    Task(TaskCommand),
    /// Lets the machine's own scheduler tick a loop.
    #[command(subcommand)]
    Schedule(ScheduleCommand),
    /// Lists and removes the worktrees of loops.
    #[command(subcommand)]
    Worktree(WorktreeCommand),
    /// Tells what is out of order with the project's tasks and loops.
    Audit(Audit),
    /// Shows and tries out a loop's acceptance gate.
    #[command(subcommand)]
    Gate(GateCommand),
    /// Lists, shows and tries out the profiles of agents.
    #[command(subcommand)]
    Harness(HarnessCommand),
    /// Shows and checks prompts before anything is spent.
    #[command(subcommand)]
    Prompt(PromptCommand),
    /// Looks for what would keep a loop from working; changes and spends nothing.
    Doctor(Doctor),
    /// Lets this user start what a project's loops name, as after a clone or a pull.
    Trust(Trust),
    /// Checks the configuration of one loop, or of all.
    Validate(Validate),
    /// Shows every setting of a loop that is in effect, and where it comes from.
    Config(NamedJson),
    /// Prints the JSON Schema of loop.json, or of a harness profile.
    Schema {
        /// The file.
        #[arg(value_enum, default_value_t = SchemaOf::Loop)]
        of: SchemaOf,
    },
    /// Prints what a shell needs to complete commands.
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Prints the manual page, or writes those of all commands.
    Man {
        /// The folder that the pages go to.
        folder: Option<PathBuf>,
    },
    /// Shows help; `--all` lists every command.
    Help {
        /// List every command.
        #[arg(long)]
        all: bool,
        /// Explain this command.
        #[arg(conflicts_with = "all")]
        command: Vec<String>,
    },
    /// The scripted agent of the demo.
    #[command(name = "__demo-agent", hide = true)]
    DemoAgent {
        /// The prompt's file.
        prompt: String,
    },
}

/// A file that has a schema.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum SchemaOf {
    /// A loop's loop.json.
    Loop,
    /// A harness profile.
    Harness,
}

/// A loop.
#[derive(Debug, Args)]
pub(crate) struct NamedJson {
    /// The loop.
    pub(crate) name: String,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Nothing but the form of what is printed.
#[derive(Debug, Args)]
pub(crate) struct Json {
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// What `init` takes.
#[derive(Debug, Args)]
pub(crate) struct Init {
    /// Write the files of an autonomous run too: TASK.md, its gate, what explains them.
    #[arg(long)]
    pub(crate) run: bool,
}

/// What `create` takes.
#[derive(Debug, Args)]
pub(crate) struct Create {
    /// The name of the new loop.
    pub(crate) name: String,
    /// The template: task, backlog, ci-triage, self-improvement, run-loop, or one of
    /// your own.
    #[arg(long, value_name = "TEMPLATE")]
    pub(crate) from_template: String,
    /// The task to work on; made if it does not exist.
    #[arg(long, value_name = "TASK")]
    pub(crate) task: Option<String>,
    /// What is to be done: a text, @FILE, or - for standard input.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) brief: Option<String>,
    #[command(flatten)]
    pub(crate) harness: HarnessChoice,
}

/// The agent.
#[derive(Debug, Args)]
pub(crate) struct HarnessChoice {
    /// The agent's profile; `loop harness list` shows which there are.
    #[arg(long, value_name = "PROFILE", conflicts_with = "harness_command")]
    pub(crate) harness: Option<String>,
    /// The agent's command as a JSON array, such as '["my-agent","{prompt}"]'.
    #[arg(long, value_name = "JSON")]
    pub(crate) harness_command: Option<String>,
}

/// What `tick` takes.
#[derive(Debug, Args)]
pub(crate) struct Tick {
    /// The loop.
    pub(crate) name: String,
    /// Print the outcome as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Exit with a code that tells the outcome.
    #[arg(long)]
    pub(crate) exit_code: bool,
    /// Show the task, the whole prompt and the brakes, and spend nothing.
    #[arg(long, conflicts_with_all = ["json", "exit_code"])]
    pub(crate) dry_run: bool,
    /// Append to FILE what would be printed; what is older than 1 MiB goes. For timers.
    #[arg(long, value_name = "FILE", conflicts_with = "dry_run")]
    pub(crate) log: Option<PathBuf>,
}

/// What `start` takes.
#[derive(Debug, Args)]
pub(crate) struct Start {
    /// The loop.
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    pub(crate) name: Option<String>,
    /// All loops of the project but `run`; those that wait for a person do not
    /// hold up the others.
    #[arg(long)]
    pub(crate) all: bool,
    /// Ticks that each loop gets.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_ticks: Option<u64>,
    /// Ticks that run at the same time.
    #[arg(long, value_name = "N", default_value = "2")]
    pub(crate) jobs: NonZeroUsize,
    /// Print the outcome of every tick as JSON, a line each, and the end as one more.
    #[arg(long)]
    pub(crate) json: bool,
}

/// What `list` takes.
#[derive(Debug, Args)]
pub(crate) struct List {
    /// Only the loops that wait for a person, with why and what to do.
    #[arg(long)]
    pub(crate) waiting: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// What `log` takes.
#[derive(Debug, Args)]
pub(crate) struct Log {
    /// The loop.
    pub(crate) name: String,
    /// Go on with what is written from now on, until interrupted.
    #[arg(long, short)]
    pub(crate) follow: bool,
    /// Only the last lines.
    #[arg(long, short = 'n', value_name = "N", value_parser = clap::value_parser!(u32).range(..=100_000))]
    pub(crate) lines: Option<u32>,
    /// Print the records as they are, a line each.
    #[arg(long)]
    pub(crate) json: bool,
}

/// What `run` takes.
#[derive(Debug, Args)]
pub(crate) struct Run {
    /// The task, a file of the project; its TASK.md when absent. Stays frozen.
    pub(crate) task: Option<PathBuf>,
    /// Passes that it gets; stays in .automaton/loops/run/loop.json.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) cap: Option<u32>,
    /// Passes without progress that end it; stays there, too.
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..=32))]
    pub(crate) stuck: Option<u32>,
    /// A path or pattern to freeze with the gate and the task; stays there, too.
    #[arg(long, value_name = "PATH")]
    pub(crate) freeze: Vec<String>,
    /// Refuse a plan that leaves a line of "Done when" without a check.
    #[arg(long)]
    pub(crate) strict: bool,
    #[command(flatten)]
    pub(crate) harness: HarnessChoice,
    /// Show the task, the gate and the brakes, and spend nothing.
    #[arg(long, conflicts_with = "json")]
    pub(crate) dry_run: bool,
    /// Print the report as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// What `iterate` takes.
#[derive(Debug, Args)]
pub(crate) struct Iterate {
    #[command(flatten)]
    pub(crate) harness: HarnessChoice,
    /// Print the report as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// What `diff` takes.
#[derive(Debug, Args)]
pub(crate) struct Diff {
    /// The loop.
    pub(crate) name: String,
    /// The task; the current or latest one when absent.
    pub(crate) task: Option<String>,
    /// Only the names and numbers of lines.
    #[arg(long)]
    pub(crate) stat: bool,
}

/// A person's request to a loop.
#[derive(Debug, Args)]
pub(crate) struct Ask {
    /// The loop.
    pub(crate) name: String,
    /// What to remember with it.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) note: Option<String>,
}

/// What `approve` takes.
#[derive(Debug, Args)]
pub(crate) struct Approve {
    #[command(flatten)]
    pub(crate) ask: Ask,
    /// The task that the loop waits about, or that it has put aside.
    pub(crate) task: Option<String>,
}

/// What `set-task` takes.
#[derive(Debug, Args)]
pub(crate) struct SetTask {
    /// The loop.
    pub(crate) name: String,
    /// The task.
    pub(crate) task: String,
}

/// The commands about tasks.
#[derive(Debug, Subcommand)]
pub(crate) enum TaskCommand {
    /// Makes a task.
    Create {
        /// Its name.
        name: String,
        /// What it is about, in a few words.
        #[arg(long)]
        title: Option<String>,
        /// What is to be done: a text, @FILE, or - for standard input.
        #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
        brief: Option<String>,
        /// Print JSON, which is what is printed in any case.
        #[arg(long)]
        json: bool,
    },
    /// Lists the tasks.
    List(Json),
    /// Shows one task.
    Show {
        /// The task.
        task: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Moves a task to its next phase, or to a person.
    Transition {
        /// The task.
        task: String,
        /// The phase; the next one when absent.
        #[arg(long, value_name = "PHASE")]
        to: Option<String>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Lets a task leave a phase that needs approval, or go back to work.
    Approve {
        /// The task.
        task: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

/// The commands about timers.
#[derive(Debug, Subcommand)]
pub(crate) enum ScheduleCommand {
    /// Writes the loop's timer, and tells how it is started.
    Install(TimerArgs),
    /// Shows the loop's timer, whether it is as it would be written now, and when it fires.
    Show {
        /// The loop.
        name: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Takes the loop's timer away, and nothing else.
    Remove(TimerArgs),
}

/// What is done with a timer.
#[derive(Debug, Args)]
pub(crate) struct TimerArgs {
    /// The loop.
    pub(crate) name: String,
    /// The scheduler: systemd, cron or launchd; the one that is there when absent.
    #[arg(long, value_name = "SCHEDULER")]
    pub(crate) backend: Option<Backend>,
    /// Print what would be written or removed, and do nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// The commands about worktrees.
#[derive(Debug, Subcommand)]
pub(crate) enum WorktreeCommand {
    /// Lists the worktrees: whose they are, how large, and what is in them alone.
    List(Json),
    /// Shows which worktrees nobody needs any more; with --yes removes them.
    Prune {
        /// Remove them; work that is nowhere else is saved as a patch before.
        #[arg(long)]
        yes: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

/// The commands about harness profiles.
#[derive(Debug, Subcommand)]
pub(crate) enum HarnessCommand {
    /// Lists the profiles: what each reports, and whether its program is there.
    List(Json),
    /// Prints a profile, to be changed and kept in the home.
    Show {
        /// The profile.
        profile: String,
    },
    /// Calls the agent of a profile, and tells whether it does what the profile says.
    ///
    /// Without --offline that is your own agent with your own account: four short calls
    /// that cost what they cost.
    Test {
        /// The profile.
        profile: String,
        /// Let a scripted model on this machine answer: no account, no network, and
        /// errors that a real one does not give.
        #[arg(long)]
        offline: bool,
        /// Print JSON, a line for each check.
        #[arg(long)]
        json: bool,
    },
}

/// The commands about the acceptance gate.
#[derive(Debug, Subcommand)]
pub(crate) enum GateCommand {
    /// Prints the digest of everything that judges the work.
    Hash {
        /// The loop; the only one with a gate when absent.
        name: Option<String>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Tells whether the gate is what was frozen, and what is left open.
    Check {
        /// The loop.
        name: String,
        /// Check the receipts of verified results too.
        #[arg(long)]
        receipts: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Shows in clean checkouts that the gate is red without the work and green with it.
    Prove {
        /// The loop.
        name: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Says that the gate of a task is as it should be, and freezes it as it is.
    Freeze {
        /// The loop.
        name: String,
        /// The task; the one that the loop waits about or works on when absent.
        task: Option<String>,
        /// What to remember with it.
        #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
        note: Option<String>,
    },
    /// Tries well-known cheats on the gate, in throw-away checkouts.
    Attack {
        /// The loop.
        name: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

/// The commands about prompts.
#[derive(Debug, Subcommand)]
pub(crate) enum PromptCommand {
    /// Prints the exact text that the next tick would send to a role.
    Render {
        /// The loop.
        name: String,
        /// The role: implement, verify or orchestrate.
        role: String,
        /// As if the next tick had this number.
        #[arg(long, value_name = "N")]
        tick: Option<u64>,
    },
    /// Looks for mistakes in a loop's prompts.
    Check {
        /// The loop.
        name: String,
    },
}

/// What `audit` takes.
#[derive(Debug, Args)]
pub(crate) struct Audit {
    /// Print JSON, on one line.
    #[arg(long)]
    pub(crate) json: bool,
    /// Exit with 1 if anything is out of order.
    #[arg(long)]
    pub(crate) strict: bool,
}

/// What `doctor` takes.
#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// The loop; all loops of the project when absent.
    pub(crate) name: Option<String>,
    /// Look with the environment that a timer gives.
    #[arg(long)]
    pub(crate) as_scheduled: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// What `trust` takes.
#[derive(Debug, Args)]
pub(crate) struct Trust {
    /// The loop; all loops of the project when absent.
    pub(crate) name: Option<String>,
    /// Only show what would be started, and what was changed.
    #[arg(long)]
    pub(crate) show: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// What `validate` takes.
#[derive(Debug, Args)]
pub(crate) struct Validate {
    /// The loop; all loops when absent.
    pub(crate) name: Option<String>,
}
