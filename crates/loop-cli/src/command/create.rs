//! `loop create`: a loop from a template.

use super::harness;
use crate::args::Create;
use crate::context::{self, Context};
use crate::failure::Failure;
use crate::show;
use loop_core::config::{Supported, WorkSourceKind};
use loop_core::{Role, exit};
use loop_runner::create::{Created, NewLoop, create};
use loop_runner::lint::suspicions;
use loop_runner::setup::Setup;
use std::fs;
use std::io::{self, Read};

/// Makes the loop, and says what to do next.
pub(crate) fn run(context: &Context, args: &Create) -> Result<u8, Failure> {
    context.person_only("make a loop")?;
    let brief = args.brief.as_deref().map(read_brief).transpose()?;
    let harness = harness::choice(&args.harness)?;
    let created = create(
        &context.around,
        &NewLoop {
            name: &args.name,
            template: &args.from_template,
            task: args.task.as_deref(),
            brief: brief.as_deref(),
            harness,
            by: &context::user(),
        },
    )?;
    tell(context, &args.name, &created);
    Ok(exit::DONE)
}

fn tell(context: &Context, name: &str, created: &Created) {
    let path = created.setup.config_path();
    show::line(format!("made the loop {name}: {}", path.display()));
    if !context.quiet {
        for path in &created.installed {
            show::note(format!("put a prompt into the home: {}", path.display()));
        }
        let harnesses = created.setup.harnesses.of_role(Role::Implement);
        if let Some(harness) = harnesses.iter().find(|harness| harness.is_default) {
            let command: Vec<_> = harness
                .command
                .iter()
                .map(|word| show::quoted(word))
                .collect();
            show::note(format!(
                "the agent is the default, {}; its errors, its cost and its quota are not read; --harness NAME does that, see: loop harness list",
                command.join(" ")
            ));
        }
        for words in created.setup.config.uncapped(&created.setup.harnesses) {
            show::note(words);
        }
    }
    let missing = created.setup.config.not_enforced(&Supported::THIS_VERSION);
    if !missing.is_empty() {
        show::warning(&format!(
            "this version does not enforce {}; a tick refuses the loop until that is taken out",
            missing.join(", ")
        ));
    }
    for suspicion in suspicions(&created.setup) {
        show::warning(&suspicion);
    }
    if let Some(what) = no_worktree_possible(&created.setup) {
        show::warning(&what);
    }
    show::line(format!("next: {}", next(name, created)));
}

/// Says what there is to do until the loop has work.
fn next(name: &str, created: &Created) -> String {
    let source = created.setup.config.work_source();
    match (source.kind(), &created.task) {
        (WorkSourceKind::Single, Some(_)) => format!("loop tick {name}"),
        (WorkSourceKind::Single, None) => {
            format!("loop task create TASK --brief TEXT, then loop set-task {name} TASK")
        }
        (WorkSourceKind::Backlog, _) => {
            let area = source.area.as_ref().map_or("AREA", |area| area.as_str());
            format!(
                "write items such as `- [ ] **name** what to do` into design/{area}/BACKLOG.md, \
                 then loop tick {name} --dry-run"
            )
        }
        (WorkSourceKind::Audit | WorkSourceKind::Command, _) => {
            format!("loop tick {name} --dry-run")
        }
    }
}

/// Says what keeps a loop that works in a worktree from having one.
fn no_worktree_possible(setup: &Setup) -> Option<String> {
    if !setup.config.blast_radius().use_worktree() {
        return None;
    }
    let root = show::quoted(&setup.project.root().to_string_lossy());
    let Some(repository) = &setup.repository else {
        return Some(format!(
            "the loop works in a worktree, and the project is not in a git repository: \
             git init {root}, and commit something"
        ));
    };
    let commit = repository.head().ok()?.commit;
    commit.is_none().then(|| {
        format!(
            "the loop works in a worktree, and the repository has no commit: \
             git -C {root} commit --allow-empty -m Start"
        )
    })
}

/// Reads what `--brief` stands for: a text, `@FILE`, or `-`.
pub(crate) fn read_brief(given: &str) -> Result<String, Failure> {
    let (from, read) = match given.strip_prefix('@') {
        Some(path) => (path, fs::read_to_string(path)),
        None if given == "-" => {
            let mut text = String::new();
            (
                "standard input",
                io::stdin().read_to_string(&mut text).map(|_| text),
            )
        }
        None => ("--brief", Ok(given.to_owned())),
    };
    let text = read.map_err(|error| Failure::usage(format!("cannot read {from}: {error}")))?;
    if text.trim().is_empty() {
        return Err(Failure::usage(format!(
            "{from}: the brief is empty; say what is to be done"
        )));
    }
    Ok(text)
}
