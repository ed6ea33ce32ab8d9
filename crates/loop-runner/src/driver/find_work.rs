//! Asks the work source.

use super::Driver;
use loop_core::Work;
use loop_core::outcome::{Halt, Skip};
use loop_core::phase::{COMPLETE, HUMAN_INTERVENTION};
use loop_core::rules::Rules;
use loop_core::step::WorkTask;

impl Driver<'_> {
    pub(super) fn find_work(&mut self) -> Work {
        let configured = self.setup.config.work_source().task.as_ref();
        let current = self.machine().state().current_task.clone();
        let Some(task) = current.or_else(|| configured.map(|task| task.as_str().to_owned())) else {
            return Work::Nothing(Skip::NoCurrentTask);
        };
        let phases = Rules::of(&self.setup.config).phases;
        match self
            .setup
            .tasks
            .adopt(&task, &phases, self.setup.clock.now())
        {
            Ok(Some(record)) if record.phase == HUMAN_INTERVENTION => {
                Work::Nothing(Skip::HumanIntervention(Halt::Escalated))
            }
            Ok(Some(record)) if record.phase == COMPLETE => Work::Nothing(Skip::NoCurrentTask),
            Ok(Some(record)) => Work::Found(WorkTask {
                phases: record.phases(),
                name: record.name,
                phase: Some(record.phase),
            }),
            Ok(None) => Work::Found(WorkTask {
                name: task,
                phase: None,
                phases,
            }),
            Err(error) => Work::Failed {
                what: error.to_string(),
            },
        }
    }
}
