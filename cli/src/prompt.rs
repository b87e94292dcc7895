//! Prompts for missing arguments on a terminal. Without a terminal, a missing argument is an error.

use std::io::{self, BufRead, IsTerminal as _, Write};

use crate::{
    error::{Error, Result, ResultExt as _},
    ui,
};

/// A question about a required argument.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Question {
    /// The prompt on a terminal.
    pub(crate) text: &'static str,
    /// The argument on the command line.
    pub(crate) argument: &'static str,
    /// An example of a command line with the argument.
    pub(crate) example: &'static str,
}

/// Returns the checked argument. Without the argument, prompts for it until the answer is valid, or fails if stdin is no terminal.
pub(crate) fn answer<T>(argument: Option<&str>, question: Question, check: impl Fn(&str) -> Result<T>) -> Result<T> {
    match argument {
        Some(argument) => check(argument),
        None if io::stdin().is_terminal() => ask(&mut io::stdin().lock(), &mut ui::stderr(), question, check),
        None => Err(missing_argument(question)),
    }
}

/// Prints a prompt and reads a line until the line is valid, and returns the checked answer. Fails at the end of the input.
fn ask<T>(
    input: &mut dyn BufRead,
    screen: &mut dyn Write,
    question: Question,
    check: impl Fn(&str) -> Result<T>,
) -> Result<T> {
    loop {
        ui::prompt(screen, question.text);
        let mut line = String::new();
        if input.read_line(&mut line).or_failed(|| "failed to read the answer".to_owned())? == 0 {
            return Err(missing_argument(question));
        }
        match check(line.trim()) {
            Ok(answer) => return Ok(answer),
            Err(refusal) => ui::error(screen, &refusal),
        }
    }
}

/// Returns the error for a missing argument, with an example.
fn missing_argument(question: Question) -> Error {
    Error::usage(format!("{} is missing", question.argument)).hint(format!("for example `{}`", question.example))
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;

    const QUESTION: Question = Question { text: "Number", argument: "`--number`", example: "count --number 3" };

    fn number(text: &str) -> Result<u32> {
        text.parse().or_failed(|| format!("`{text}` is no number"))
    }

    #[test]
    fn an_invalid_answer_is_prompted_for_again() {
        let mut screen = Vec::new();
        let answer = ask(&mut "three\n 3 \n4\n".as_bytes(), &mut screen, QUESTION, number);
        assert_eq!(answer.ok(), Some(3));
        let screen = anstream::adapter::strip_bytes(&screen).into_vec();
        let message = "error: `three` is no number\n  caused by: invalid digit found in string\n";
        assert_eq!(String::from_utf8_lossy(&screen), format!("? Number: {message}? Number: "));
    }

    #[test]
    fn the_end_of_input_ends_the_questions() {
        let error = ask(&mut "".as_bytes(), &mut Vec::new(), QUESTION, number).expect_err("no answer");
        assert_eq!(error.to_string(), "`--number` is missing");
        assert_eq!(error.hint_text(), Some("for example `count --number 3`"));
    }

    #[test]
    fn a_given_argument_is_not_prompted_for() {
        assert_eq!(answer(Some("7"), QUESTION, number).ok(), Some(7));
        assert!(answer(Some("x"), QUESTION, number).is_err());
    }
}
