//! Programs that the engine runs for itself: no agents, so they have no role.

use crate::holder::{Command, Environment, Place, Policy};
use crate::setup::Setup;
use std::path::Path;

/// Describes a program of the loop's configuration, held like any other child.
/// Its output goes to `outputs/<stem>-stdout.log` and `-stderr.log`.
pub(crate) fn command(
    setup: &Setup,
    argv: &[String],
    folder: &Path,
    stem: &str,
    tick: Option<u64>,
) -> Command {
    let place = Place {
        loop_name: setup.name.clone().into(),
        role: None,
        tick,
        project: setup.kept_in.root().into(),
        home: setup.home.root().into(),
        diff: None,
    };
    let inherited = setup.environment.iter().cloned();
    let files = ["stdout", "stderr"].map(|stream| {
        let name = format!("{stem}-{stream}.log");
        setup.dir.outputs().join(name)
    });
    Command::new(
        argv.iter().map(Into::into).collect(),
        folder.to_owned(),
        Environment::new(inherited, &Policy::default(), &place),
        files,
        setup.dir.step_lock(),
    )
}
