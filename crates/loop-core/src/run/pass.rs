//! One pass of a run.

use super::change::Size;
use super::line::line;
use serde::Serialize;
use std::fmt;

/// What became of one pass.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Pass {
    /// Its number in the run, from 1.
    pub number: u32,
    /// The tick that it was.
    pub tick: u64,
    /// The gate's literal exit code; null when it did not run.
    pub gate_exit: Option<i32>,
    /// How much implement changed; null when nobody can tell.
    pub changed: Option<Size>,
    /// Why it ended so, in one line.
    pub why: String,
}

/// Shows the pass in one line, without its number.
impl fmt::Display for Pass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.gate_exit {
            Some(code) => write!(f, "gate exit code {code}")?,
            None => f.write_str("gate not run")?,
        }
        if let Some(changed) = &self.changed {
            write!(f, "; changed {changed}")?;
        }
        match line(&self.why) {
            why if why.is_empty() => Ok(()),
            why => write!(f, "; {why}"),
        }
    }
}
