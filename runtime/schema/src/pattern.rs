//! Regular expressions in the syntax of Go.

use std::fmt::Write as _;

use regex::Regex;

/// A `pattern`. One that is no regular expression matches nothing.
#[derive(Debug)]
pub(crate) struct Pattern {
    pub(crate) written: String,
    regex: Result<Regex, String>,
}

impl Pattern {
    pub(crate) fn of(written: &str) -> Self {
        let regex = Regex::new(&translated(written)).map_err(|error| error.to_string());
        Self { written: written.to_owned(), regex }
    }

    /// Whether a text has a match in it.
    pub(crate) fn matches(&self, text: &str) -> bool {
        self.regex.as_ref().is_ok_and(|regex| regex.is_match(text))
    }

    /// Why it is no regular expression.
    pub(crate) fn error(&self) -> Option<String> {
        let error = self.regex.as_ref().err()?;
        let last = error.lines().last().unwrap_or_default();
        let why = last.strip_prefix("error: ").unwrap_or(last);
        let written = &self.written;
        Some(match why {
            "unclosed group" => format!("error parsing regexp: missing closing ): `{written}`"),
            "unopened group" => format!("error parsing regexp: unexpected ): `{written}`"),
            "unclosed character class" => {
                let start = written.rfind('[').unwrap_or(0);
                format!("error parsing regexp: missing closing ]: `{}`", written.get(start..).unwrap_or_default())
            }
            "repetition operator missing expression" => {
                let operator = written.find(['*', '+', '?']).unwrap_or(0);
                let operator = written.get(operator..=operator).unwrap_or_default();
                format!("error parsing regexp: missing argument to repetition operator: `{operator}`")
            }
            other => format!("error parsing regexp: {other}"),
        })
    }
}

/// Go's classes are ASCII, and it has no operators within brackets.
fn translated(written: &str) -> String {
    let mut out = String::with_capacity(written.len());
    let mut letters = written.chars().peekable();
    let mut depth = Depth::Outside;
    while let Some(letter) = letters.next() {
        match (letter, depth) {
            ('\\', _) => match letters.next() {
                Some(class) => escape(&mut out, class),
                None => out.push('\\'),
            },
            ('[', Depth::Outside) => {
                out.push('[');
                depth = Depth::First;
                if letters.next_if_eq(&'^').is_some() {
                    out.push('^');
                }
            }
            (']', Depth::First) => {
                out.push_str("\\]");
                depth = Depth::Inside;
            }
            (']', Depth::Inside) => {
                out.push(']');
                depth = Depth::Outside;
            }
            ('[', _) if letters.peek() == Some(&':') => {
                out.push('[');
                for letter in letters.by_ref() {
                    out.push(letter);
                    if letter == ']' {
                        break;
                    }
                }
                depth = Depth::Inside;
            }
            ('[' | '&' | '~', Depth::First | Depth::Inside) => {
                out.push('\\');
                out.push(letter);
                depth = Depth::Inside;
            }
            (_, inside) => {
                out.push(letter);
                depth = if inside == Depth::First { Depth::Inside } else { inside };
            }
        }
    }
    out
}

/// Where in brackets a letter stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    Outside,
    /// A closing bracket here is a letter.
    First,
    Inside,
}

fn escape(out: &mut String, class: char) {
    match class {
        'd' => out.push_str("[0-9]"),
        'D' => out.push_str("[^0-9]"),
        'w' => out.push_str("[0-9A-Za-z_]"),
        'W' => out.push_str("[^0-9A-Za-z_]"),
        's' => out.push_str("[\\t\\n\\x0c\\r ]"),
        'S' => out.push_str("[^\\t\\n\\x0c\\r ]"),
        'b' => out.push_str("(?-u:\\b)"),
        other => {
            // A string takes everything that is written to it.
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
