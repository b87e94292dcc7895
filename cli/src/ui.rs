//! Prints data to stdout and everything else to stderr; no other module prints.

use std::{
    error::Error as _,
    io::{self, IsTerminal as _, Write as _},
    process::ExitCode,
    sync::{Mutex, PoisonError},
};

use anstyle::{AnsiColor, Style};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::Value;

use crate::{
    args::OutputFormat,
    error::{Error, Result, ResultExt as _},
};

const DONE: Style = AnsiColor::Green.on_default().bold();
const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const HINT: Style = AnsiColor::Cyan.on_default().bold();

/// The first error of standard output.
static STDOUT_ERROR: Mutex<Option<io::Error>> = Mutex::new(None);

/// The options for output.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ui {
    quiet: bool,
    output: OutputFormat,
}

impl Ui {
    pub(crate) fn new(quiet: bool, output: OutputFormat) -> Self {
        Self { quiet, output }
    }

    pub(crate) fn output(self) -> OutputFormat {
        self.output
    }

    pub(crate) fn is_json(self) -> bool {
        self.output == OutputFormat::Json
    }

    /// Returns whether output may be redrawn in place on a terminal.
    pub(crate) fn is_interactive(self) -> bool {
        self.output == OutputFormat::Text && !self.quiet && io::stdout().is_terminal() && io::stderr().is_terminal()
    }

    /// Prints a status line with a verb, right-aligned like cargo's.
    pub(crate) fn status(self, verb: &str, text: &str) {
        if !self.quiet {
            print_status(&format!("{DONE}{verb:>12}{DONE:#} {text}"));
        }
    }

    /// Prints a line that is not data.
    pub(crate) fn note(self, line: &str) {
        if !self.quiet {
            print_status(line);
        }
    }

    /// Prints a warning.
    pub(crate) fn warning(self, text: &str) {
        self.note(&format!("{WARNING}warning:{WARNING:#} {text}"));
    }

    /// Starts to show the progress of `steps` steps, or of an unknown number: as a bar on a terminal, as status lines elsewhere.
    pub(crate) fn progress(self, verb: &'static str, steps: Option<u64>) -> Progress {
        let bar = (!self.quiet && io::stderr().is_terminal()).then(|| progress_bar(verb, steps));
        Progress { bar, verb, ui: self }
    }

    /// Prints a line of data, unless the output is JSON.
    pub(crate) fn data(self, line: &str) {
        if !self.is_json() {
            print_line(line);
        }
    }

    /// Prints a JSON document as a line, if the output is JSON.
    pub(crate) fn json(self, value: &Value) {
        if self.is_json() {
            print_line(&value.to_string());
        }
    }
}

/// Returns the stream for all output but data.
pub(crate) fn stderr() -> impl io::Write {
    anstream::stderr()
}

/// Prints an error with its causes and its hint.
pub(crate) fn error(stderr: &mut dyn io::Write, error: &Error) {
    _ = writeln!(stderr, "{ERROR}error:{ERROR:#} {error}");
    let mut cause = error.source();
    while let Some(current) = cause {
        _ = writeln!(stderr, "  caused by: {}", current.to_string().trim_end().replace('\n', "\n    "));
        cause = current.source();
    }
    if let Some(hint) = error.hint_text() {
        _ = writeln!(stderr, "\n{HINT}hint:{HINT:#} {hint}");
    }
}

/// Prints the prompt for an answer.
pub(crate) fn prompt(stderr: &mut dyn io::Write, question: &str) {
    // One write, so that the echo of typed characters doesn't split it.
    _ = stderr.write_all(format!("{HINT}?{HINT:#} {question}: ").as_bytes());
    _ = stderr.flush();
}

/// Prints data of another program.
pub(crate) fn print_bytes(bytes: &[u8]) {
    record_error(anstream::stdout().write_all(bytes));
}

/// Flushes standard output. Fails if anything was not written, except to a closed pipe.
pub(crate) fn flush_stdout() -> Result<()> {
    record_error(io::stdout().flush());
    let stdout_error = STDOUT_ERROR.lock().unwrap_or_else(PoisonError::into_inner).take();
    stdout_error.map_or(Ok(()), Err).or_failed(|| "failed to write to standard output".to_owned())
}

/// Prints clap's help, version or error, and returns clap's exit code. If help or the version can't be printed, returns a failure, except
/// for a closed pipe.
pub(crate) fn clap_error(error: &clap::Error) -> ExitCode {
    let printed = error.print().and_then(|()| io::stdout().flush());
    let code = u8::try_from(error.exit_code()).unwrap_or(1);
    match printed {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe && code == 0 => ExitCode::FAILURE,
        _ => ExitCode::from(code),
    }
}

/// The progress of several steps.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
    verb: &'static str,
    ui: Ui,
}

impl Progress {
    /// Shows the name of a part of the current step beside the bar; does nothing without a terminal.
    pub(crate) fn tick(&self, text: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(text.to_owned());
        }
    }

    /// Shows the next step: moves the bar on a terminal, and prints a line elsewhere.
    pub(crate) fn step(&self, text: &str) {
        match &self.bar {
            Some(bar) => {
                bar.set_message(text.to_owned());
                bar.inc(1);
            }
            None => self.ui.status(self.verb, text),
        }
    }
}

impl Drop for Progress {
    /// Removes the bar from the terminal.
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Creates a progress bar for a known number of steps, or a spinner for `None`.
fn progress_bar(verb: &'static str, steps: Option<u64>) -> ProgressBar {
    let template = if steps.is_some() {
        "{prefix:>12.green.bold} [{bar:20}] {pos}/{len} {msg}"
    } else {
        "{prefix:>12.green.bold} {spinner} {msg}"
    };
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::with_draw_target(steps, ProgressDrawTarget::stderr()).with_style(style).with_prefix(verb)
}

// A closed pipe ends the output, not the command.
fn print_status(line: &str) {
    _ = writeln!(stderr(), "{line}");
}

fn print_line(line: &str) {
    record_error(writeln!(anstream::stdout(), "{line}"));
}

/// Stores the first error of standard output for `flush_stdout`. A closed pipe is no error: the reader wants no more output.
fn record_error(result: io::Result<()>) {
    if let Err(error) = result
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        STDOUT_ERROR.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }
}
