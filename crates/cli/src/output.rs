//! The two places where regreen prints.

use std::io::{self, IsTerminal as _, Write as _};

use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme, MietteDiagnostic};

use crate::problem::Problem;

/// Prints a result. A reader that has gone away is no failure: it has what it wanted.
pub fn print(text: &str) -> Result<(), Problem> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Problem::Print(error)),
        _ => Ok(()),
    }
}

/// Says what went wrong and what to do about it.
pub fn complain(problem: &Problem) {
    let mut message = problem.to_string();
    for cause in problem.causes() {
        message.push_str(": ");
        message.push_str(&cause);
    }
    let mut report = MietteDiagnostic::new(message);
    report.help = problem.way_out();
    // If this cannot be printed either, the exit code has to say it all.
    let _ = writeln!(
        io::stderr(),
        "{}",
        render(&report, io::stderr().is_terminal()).trim_end()
    );
}

/// A diagnostic as text, with colours only on a terminal.
pub fn render(diagnostic: &dyn Diagnostic, colours: bool) -> String {
    let theme = if colours {
        GraphicalTheme::unicode()
    } else {
        GraphicalTheme::unicode_nocolor()
    };
    let mut text = String::new();
    let handler = GraphicalReportHandler::new_themed(theme)
        .with_width(100)
        .with_links(colours);
    // Rendering into memory has nothing to fail on.
    let _ = handler.render_report(&mut text, diagnostic);
    text
}

/// Whether results go to a person's terminal.
pub fn is_terminal() -> bool {
    io::stdout().is_terminal()
}
