//! The only place that prints: data to stdout, everything else to stderr.

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
    args::Output,
    error::{Error, Explain as _, Result},
};

const DONE: Style = AnsiColor::Green.on_default().bold();
const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const HINT: Style = AnsiColor::Cyan.on_default().bold();

/// Why something did not arrive on standard output.
static LOST: Mutex<Option<io::Error>> = Mutex::new(None);

/// What the options say about printing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ui {
    quiet: bool,
    output: Output,
}

impl Ui {
    pub(crate) fn new(quiet: bool, output: Output) -> Self {
        Self { quiet, output }
    }

    pub(crate) fn output(self) -> Output {
        self.output
    }

    pub(crate) fn is_json(self) -> bool {
        self.output == Output::Json
    }

    /// Whether data may be a drawing that changes in place: somebody looks at a terminal.
    pub(crate) fn draws(self) -> bool {
        self.output == Output::Text && !self.quiet && io::stdout().is_terminal() && io::stderr().is_terminal()
    }

    /// A verb, right-aligned like cargo's, and what it was done to.
    pub(crate) fn status(self, verb: &str, what: &str) {
        if !self.quiet {
            say(&format!("{DONE}{verb:>12}{DONE:#} {what}"));
        }
    }

    /// A line for people that is no data.
    pub(crate) fn note(self, line: &str) {
        if !self.quiet {
            say(line);
        }
    }

    /// Something that works and should be looked at.
    pub(crate) fn warning(self, text: &str) {
        self.note(&format!("{WARNING}warning:{WARNING:#} {text}"));
    }

    /// A step of a plan: a moving line on a terminal, a status line elsewhere.
    pub(crate) fn progress(self, verb: &'static str, steps: Option<u64>) -> Progress {
        let bar = (!self.quiet && io::stderr().is_terminal()).then(|| moving_line(verb, steps));
        Progress { bar, verb, ui: self }
    }

    /// One line of data for people; says nothing where JSON was asked for.
    pub(crate) fn data(self, line: &str) {
        if !self.is_json() {
            hand_out(line);
        }
    }

    /// One line of data for programs; says nothing where text was asked for.
    pub(crate) fn json(self, value: &Value) {
        if self.is_json() {
            hand_out(&value.to_string());
        }
    }
}

/// Where everything but data goes.
pub(crate) fn screen() -> impl io::Write {
    anstream::stderr()
}

/// The error, its causes, and what to do about it.
pub(crate) fn error(screen: &mut dyn io::Write, error: &Error) {
    _ = writeln!(screen, "{ERROR}error:{ERROR:#} {error}");
    let mut cause = error.source();
    while let Some(current) = cause {
        _ = writeln!(screen, "  caused by: {}", current.to_string().trim_end().replace('\n', "\n    "));
        cause = current.source();
    }
    if let Some(hint) = error.hinted() {
        _ = writeln!(screen, "\n{HINT}hint:{HINT:#} {hint}");
    }
}

/// What an answer is written behind.
pub(crate) fn prompt(screen: &mut dyn io::Write, question: &str) {
    // In one piece: what is typed ahead is echoed before or behind it, not in the middle.
    _ = screen.write_all(format!("{HINT}?{HINT:#} {question}: ").as_bytes());
    _ = screen.flush();
}

/// Bytes of data that another program has made.
pub(crate) fn pass_on(bytes: &[u8]) {
    note(anstream::stdout().write_all(bytes));
}

/// Whether everything that was handed out has arrived. A reader that has gone away has seen enough.
pub(crate) fn all_handed_out() -> Result<()> {
    note(io::stdout().flush());
    let lost = LOST.lock().unwrap_or_else(PoisonError::into_inner).take();
    lost.map_or(Ok(()), Err).or_failed(|| "failed to write to standard output".to_owned())
}

/// Help, the version, or what is wrong with the arguments.
pub(crate) fn said(said: &clap::Error) -> ExitCode {
    let printed = said.print().and_then(|()| io::stdout().flush());
    let code = u8::try_from(said.exit_code()).unwrap_or(1);
    match printed {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe && code == 0 => ExitCode::FAILURE,
        _ => ExitCode::from(code),
    }
}

/// Steps of a plan as they are done.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
    verb: &'static str,
    ui: Ui,
}

impl Progress {
    /// A part of the current step: seen on a terminal only.
    pub(crate) fn tick(&self, what: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(what.to_owned());
        }
    }

    pub(crate) fn step(&self, what: &str) {
        match &self.bar {
            Some(bar) => {
                bar.set_message(what.to_owned());
                bar.inc(1);
            }
            None => self.ui.status(self.verb, what),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn moving_line(verb: &'static str, steps: Option<u64>) -> ProgressBar {
    let template = if steps.is_some() {
        "{prefix:>12.green.bold} [{bar:20}] {pos}/{len} {msg}"
    } else {
        "{prefix:>12.green.bold} {spinner} {msg}"
    };
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::with_draw_target(steps, ProgressDrawTarget::stderr()).with_style(style).with_prefix(verb)
}

// A reader that has gone away ends the output, not the work.
fn say(line: &str) {
    _ = writeln!(screen(), "{line}");
}

fn hand_out(line: &str) {
    note(writeln!(anstream::stdout(), "{line}"));
}

/// Keeps the first error of standard output, for the end.
fn note(written: io::Result<()>) {
    if let Err(error) = written
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        LOST.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }
}
