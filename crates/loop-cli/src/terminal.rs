//! What is known of the terminal, if there is one.

use rustix::fd::AsFd;
use rustix::termios::tcgetwinsize;
use std::env;
use std::io::{self, IsTerminal};

/// What a terminal has that does not say.
const USUAL: Size = Size {
    columns: 80,
    rows: 24,
};

/// How large a terminal is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) columns: usize,
    pub(crate) rows: usize,
}

/// Returns the columns of standard output; `None` where it is no terminal.
pub(crate) fn columns_of_stdout() -> Option<usize> {
    let stdout = io::stdout();
    stdout.is_terminal().then(|| size_of(stdout).columns)
}

/// Returns the size of the terminal that standard error is.
pub(crate) fn size_of_stderr() -> Size {
    size_of(io::stderr())
}

fn size_of(stream: impl AsFd) -> Size {
    let said = tcgetwinsize(stream).ok();
    let said = said.filter(|said| said.ws_col > 0 && said.ws_row > 0);
    said.map_or(USUAL, |said| Size {
        columns: said.ws_col.into(),
        rows: said.ws_row.into(),
    })
}

/// Whether lines of standard error can be drawn anew.
pub(crate) fn can_redraw() -> bool {
    let term = env::var_os("TERM");
    let knows_how = term.is_some_and(|term| !term.is_empty() && term != "dumb");
    knows_how && io::stderr().is_terminal()
}
