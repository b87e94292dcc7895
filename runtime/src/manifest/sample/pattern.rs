//! Generates a short text that matches a regular expression.

/// Returns a text of at least `minimum` characters that matches the regular expression `pattern`. Returns `None` if it finds no such text,
/// or if the pattern has syntax that this parser doesn't support: anchors inside, named classes or back references.
pub(super) fn matching(pattern: &str, minimum: usize) -> Option<String> {
    let pattern = pattern.strip_prefix('^').unwrap_or(pattern);
    let pattern = pattern.strip_suffix('$').unwrap_or(pattern);
    // Try with more and more repetitions of the open-ended quantifiers until the text is long enough.
    (0..=minimum).find_map(|extra| {
        let mut reader = PatternReader { rest: pattern, extra };
        let text = reader.choice()?;
        (reader.rest.is_empty() && text.chars().count() >= minimum).then_some(text)
    })
}

/// A recursive-descent parser that generates a text while it reads the pattern. `extra` is the number of repetitions that it adds
/// to each open-ended quantifier. Its methods return `None` for a pattern that it does not support.
struct PatternReader<'a> {
    rest: &'a str,
    extra: usize,
}

impl PatternReader<'_> {
    /// Reads alternatives (`a|b|c`) and returns the text of the first.
    fn choice(&mut self) -> Option<String> {
        let first = self.sequence()?;
        while self.consume('|') {
            self.sequence()?;
        }
        Some(first)
    }

    /// Reads atoms with their quantifiers up to the end of an alternative, and returns their text.
    fn sequence(&mut self) -> Option<String> {
        let mut text = String::new();
        while let Some(next) = self.peek() {
            if next == '|' || next == ')' {
                break;
            }
            let atom = self.atom()?;
            let repetitions = self.repetitions(atom.chars().count())?;
            text.push_str(&atom.repeat(repetitions));
        }
        Some(text)
    }

    /// Reads one atom (a character, an escape, a character class or a group), and returns a text that matches the atom.
    fn atom(&mut self) -> Option<String> {
        let character = match self.next()? {
            '(' => return self.group(),
            '[' => self.class()?,
            '\\' => escaped(self.next()?)?,
            '.' => 'x',
            '^' | '$' | '*' | '+' | '?' => return None,
            plain => plain,
        };
        Some(character.to_string())
    }

    /// Reads a group such as `(a|b)` from behind its opening bracket, and returns a text that matches the group.
    fn group(&mut self) -> Option<String> {
        // `(?P<name>...)` and `(?<name>...)` name the group, and `(?:...)` doesn't capture it; other groups with `?` are not supported.
        if self.consume('?') {
            if self.peek() == Some('P') || self.peek() == Some('<') {
                self.rest = self.rest.split_once('>')?.1;
            } else {
                self.rest = self.rest.strip_prefix(':')?;
            }
        }
        let text = self.choice()?;
        self.consume(')').then_some(text)
    }

    /// Reads a character class such as `[a-z_]` from behind its opening bracket, and returns a character that matches it: a letter or digit
    /// at the start of a listed range, or else the first listed character. For a negated class, returns the first of a few characters that
    /// is not listed. Returns `None` if there is no such character, or if the class is not closed.
    fn class(&mut self) -> Option<char> {
        let is_negated = self.consume('^');
        let mut members: Vec<(char, char)> = Vec::new();
        loop {
            let start = match self.next()? {
                ']' if !members.is_empty() => break,
                '[' if self.peek() == Some(':') => return None,
                '\\' => escaped(self.next()?)?,
                plain => plain,
            };
            let is_range = self.peek() == Some('-') && !self.rest.starts_with("-]");
            let end = if is_range { self.next().and_then(|_| self.next())? } else { start };
            members.push((start, end));
        }
        // A letter or digit reads better than punctuation that the class lists first.
        let alphanumeric = members.iter().map(|(start, _)| *start).find(char::is_ascii_alphanumeric);
        if !is_negated {
            return alphanumeric.or(members.first().map(|(start, _)| *start));
        }
        "ax0-_.".chars().find(|c| !members.iter().any(|(start, end)| (start..=end).contains(&c)))
    }

    /// Reads the quantifier after an atom, and returns how often to repeat the atom: the minimum, plus `extra` if the quantifier has no
    /// maximum and the atom is not empty; once for an atom without a quantifier. Returns `None` if the quantifier is invalid.
    fn repetitions(&mut self, atom_length: usize) -> Option<usize> {
        let (minimum, is_unbounded) = match self.peek() {
            Some('*') => (0, true),
            Some('+') => (1, true),
            Some('?') => (0, false),
            Some('{') => return self.counted(),
            _ => return Some(1),
        };
        self.next();
        // A lazy quantifier, such as `*?`, matches the same texts.
        self.consume('?');
        Some(if is_unbounded && atom_length > 0 { minimum + self.extra } else { minimum })
    }

    /// Reads a quantifier such as `{2,5}`, and returns how often to repeat the atom: the minimum plus `extra`, at most the maximum. Returns
    /// `None` if the quantifier is invalid.
    fn counted(&mut self) -> Option<usize> {
        let (inside, rest) = self.rest.strip_prefix('{')?.split_once('}')?;
        self.rest = rest;
        let Some((minimum, maximum)) = inside.split_once(',') else { return inside.parse().ok() };
        let minimum: usize = minimum.parse().ok()?;
        // `{2,}` has no maximum.
        let maximum = if maximum.is_empty() { usize::MAX } else { maximum.parse().ok()? };
        Some(minimum.saturating_add(self.extra).min(maximum))
    }

    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    /// Consumes and returns the next character; `None` at the end of the pattern.
    fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.rest = &self.rest[next.len_utf8()..];
        Some(next)
    }

    /// Consumes the next character if it is `expected`, and returns whether it was.
    fn consume(&mut self, expected: char) -> bool {
        let matches = self.peek() == Some(expected);
        if matches {
            self.next();
        }
        matches
    }
}

/// Returns a character that matches an escape such as `\d`; `None` for an unknown escape.
fn escaped(letter: char) -> Option<char> {
    match letter {
        'd' => Some('0'),
        'w' => Some('a'),
        's' => Some(' '),
        't' => Some('\t'),
        'n' => Some('\n'),
        other => (!other.is_ascii_alphanumeric()).then_some(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn supported_patterns_get_a_matching_text() {
        let cases = [
            (r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", 0, Some("a")),
            (r"^[a-z]+$", 4, Some("aaaa")),
            (r"^\d+(ms|s|m|h)$", 0, Some("0ms")),
            (r"^v[0-9]{1,3}\.[0-9]{2}$", 0, Some("v0.00")),
            (r"^(?:yes|no)$", 0, Some("yes")),
            (r"^[^/]+/.*$", 0, Some("a/")),
            (r"^\S+$", 0, None),
            (r"^(a", 0, None),
            (r"^[[:alpha:]]$", 0, None),
        ];
        for (pattern, minimum, expected) in cases {
            assert_eq!(matching(pattern, minimum).as_deref(), expected, "{pattern}");
        }
    }
}
