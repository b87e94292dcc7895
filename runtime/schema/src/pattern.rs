//! Compiles regular expressions in the syntax of Go.

use std::fmt::Write as _;

use regex::Regex;

/// The regular expression of a `pattern`. An invalid one matches nothing.
#[derive(Debug)]
pub(crate) struct Pattern {
    pub(crate) text: String,
    regex: Result<Regex, String>,
}

impl Pattern {
    /// Compiles a pattern. [`Self::error`] returns why it is invalid.
    pub(crate) fn of(text: &str) -> Self {
        let regex = Regex::new(&to_rust_syntax(text)).map_err(|error| error.to_string());
        Self { text: text.to_owned(), regex }
    }

    /// Returns whether the pattern matches somewhere in a text.
    pub(crate) fn matches(&self, text: &str) -> bool {
        self.regex.as_ref().is_ok_and(|regex| regex.is_match(text))
    }

    /// Returns the message of Go's `regexp.Compile` if the pattern is invalid, or `None`. Translates the message of the crate `regex`,
    /// which shows the pattern in its first lines and the reason in the last one.
    pub(crate) fn error(&self) -> Option<String> {
        let error = self.regex.as_ref().err()?;
        let last = error.lines().last().unwrap_or_default();
        let why = last.strip_prefix("error: ").unwrap_or(last);
        let text = &self.text;
        Some(match why {
            "unclosed group" => format!("error parsing regexp: missing closing ): `{text}`"),
            "unopened group" => format!("error parsing regexp: unexpected ): `{text}`"),
            "unclosed character class" => {
                let start = text.rfind('[').unwrap_or(0);
                format!("error parsing regexp: missing closing ]: `{}`", text.get(start..).unwrap_or_default())
            }
            "repetition operator missing expression" => {
                let operator = text.find(['*', '+', '?']).unwrap_or(0);
                let operator = text.get(operator..=operator).unwrap_or_default();
                format!("error parsing regexp: missing argument to repetition operator: `{operator}`")
            }
            other => format!("error parsing regexp: {other}"),
        })
    }
}

/// Translates a pattern of Go to the syntax of the crate `regex`. In Go, classes like `\d` are ASCII, and brackets have no operators such
/// as `&&`. So the function replaces these classes, and escapes characters in brackets that `regex` would treat as operators.
fn to_rust_syntax(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut letters = pattern.chars().peekable();
    let mut state = BracketState::Outside;
    while let Some(letter) = letters.next() {
        match (letter, state) {
            ('\\', _) => {
                match letters.next() {
                    Some(class) => push_class(&mut out, class),
                    None => out.push('\\'),
                }
                state = state.after_item();
            }
            ('[', BracketState::Outside) => {
                out.push('[');
                state = BracketState::First;
                if letters.next_if_eq(&'^').is_some() {
                    out.push('^');
                }
            }
            // A `]` at the first position in brackets is a literal character.
            (']', BracketState::First) => {
                out.push_str("\\]");
                state = BracketState::Inside;
            }
            (']', BracketState::Inside) => {
                out.push(']');
                state = BracketState::Outside;
            }
            // A class such as `[:digit:]` is copied.
            ('[', _) if letters.peek() == Some(&':') && letters.clone().skip(1).collect::<String>().contains(":]") => {
                out.push('[');
                for letter in letters.by_ref() {
                    out.push(letter);
                    if letter == ']' {
                        break;
                    }
                }
                state = BracketState::Inside;
            }
            // A range that begins or ends with a hyphen.
            ('-', BracketState::First) if letters.peek() == Some(&'-') => {
                out.push_str("\\-");
                state = BracketState::Inside;
            }
            ('-', BracketState::Inside) if letters.next_if_eq(&'-').is_some() => out.push_str("-\\-"),
            // `regex` would read these characters as a nested class or an operator.
            ('[' | '&' | '~', BracketState::First | BracketState::Inside) => {
                out.push('\\');
                out.push(letter);
                state = BracketState::Inside;
            }
            _ => {
                out.push(letter);
                state = state.after_item();
            }
        }
    }
    out
}

/// The position of a character relative to brackets.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BracketState {
    Outside,
    /// The first position in brackets, where `]` is a literal character.
    First,
    Inside,
}

impl BracketState {
    /// Returns the state after a character that is neither an opening nor a closing bracket.
    fn after_item(self) -> Self {
        if self == Self::First { Self::Inside } else { self }
    }
}

/// Appends the escape `\class` to `out`. A Perl class such as `\d` becomes its ASCII characters, and `\b` a word boundary by ASCII.
fn push_class(out: &mut String, class: char) {
    match class {
        'd' => out.push_str("[0-9]"),
        'D' => out.push_str("[^0-9]"),
        'w' => out.push_str("[0-9A-Za-z_]"),
        'W' => out.push_str("[^0-9A-Za-z_]"),
        's' => out.push_str("[\\t\\n\\x0c\\r ]"),
        'S' => out.push_str("[^\\t\\n\\x0c\\r ]"),
        'b' => out.push_str("(?-u:\\b)"),
        other => {
            // Writing to a string does not fail.
            let _ = write!(out, "\\{other}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_in_go() {
        for (pattern, text, matches) in [
            ("^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "a-b", true),
            ("^\\d+$", "٣", false),
            ("^[\\w-]+$", "a_-9", true),
            ("^[\\d]+$", "12", true),
            ("^[\\d]+$", "]", false),
            ("^[^\\s]+$", "ab", true),
            ("^[\\.]$", ".", true),
            ("^[\\]]$", "]", true),
            ("^[+--]+$", "+,-", true),
            ("^[+--]+$", "a", false),
            ("^[--/]+$", "-./", true),
            ("^[[:]+$", "[:", true),
            ("^[[:digit:]a]+$", "1a", true),
            ("^[]a]+$", "]a", true),
            ("^[[a]+$", "[a", true),
            ("^[a&&b]+$", "a&b", true),
            ("b", "abc", true),
            ("(", "(", false),
        ] {
            assert_eq!(Pattern::of(pattern).matches(text), matches, "{pattern} {text}");
        }
    }
}
