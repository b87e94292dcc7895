//! A text for a pattern: the shortest way through a regular expression.

/// A text that matches `pattern` and has at least `least` characters; `None` where the pattern is beyond this reader
/// (anchors in the middle, classes by name, references) or no such text is found.
pub(super) fn matching(pattern: &str, least: usize) -> Option<String> {
    let pattern = pattern.strip_prefix('^').unwrap_or(pattern);
    let pattern = pattern.strip_suffix('$').unwrap_or(pattern);
    // Repeating more than asked for is how a text gets longer.
    (0..=least).find_map(|extra| {
        let mut reader = PatternReader { rest: pattern, extra };
        let text = reader.choice()?;
        (reader.rest.is_empty() && text.chars().count() >= least).then_some(text)
    })
}

struct PatternReader<'a> {
    rest: &'a str,
    extra: usize,
}

impl PatternReader<'_> {
    /// `a|b|c`: the first.
    fn choice(&mut self) -> Option<String> {
        let first = self.sequence()?;
        while self.take('|') {
            self.sequence()?;
        }
        Some(first)
    }

    fn sequence(&mut self) -> Option<String> {
        let mut text = String::new();
        while let Some(next) = self.peek() {
            if next == '|' || next == ')' {
                break;
            }
            let atom = self.atom()?;
            let times = self.times(atom.chars().count())?;
            text.push_str(&atom.repeat(times));
        }
        Some(text)
    }

    fn atom(&mut self) -> Option<String> {
        let one = match self.next()? {
            '(' => return self.group(),
            '[' => self.class()?,
            '\\' => escaped(self.next()?)?,
            '.' => 'x',
            '^' | '$' | '*' | '+' | '?' => return None,
            plain => plain,
        };
        Some(one.to_string())
    }

    fn group(&mut self) -> Option<String> {
        if self.take('?') {
            if self.peek() == Some('P') || self.peek() == Some('<') {
                self.rest = self.rest.split_once('>')?.1;
            } else {
                self.rest = self.rest.strip_prefix(':')?;
            }
        }
        let text = self.choice()?;
        self.take(')').then_some(text)
    }

    /// The first member of a class; of one that excludes, the first of a few that is not a member.
    fn class(&mut self) -> Option<char> {
        let excludes = self.take('^');
        let mut members: Vec<(char, char)> = Vec::new();
        loop {
            let start = match self.next()? {
                ']' if !members.is_empty() => break,
                '[' if self.peek() == Some(':') => return None,
                '\\' => escaped(self.next()?)?,
                plain => plain,
            };
            let range = self.peek() == Some('-') && !self.rest.starts_with("-]");
            let end = if range { self.next().and_then(|_| self.next())? } else { start };
            members.push((start, end));
        }
        // A plain letter or digit reads better than the punctuation that happens to be named first.
        let plain = members.iter().map(|range| range.0).find(char::is_ascii_alphanumeric);
        if !excludes {
            return plain.or(members.first().map(|range| range.0));
        }
        "ax0-_.".chars().find(|c| !members.iter().any(|(start, end)| (start..=end).contains(&c)))
    }

    /// How often the atom is said.
    fn times(&mut self, width: usize) -> Option<usize> {
        let (least, most) = match self.peek() {
            Some('*') => (0, usize::MAX),
            Some('+') => (1, usize::MAX),
            Some('?') => (0, 1),
            Some('{') => return self.counted(),
            _ => return Some(1),
        };
        self.next();
        self.take('?');
        Some(if most == usize::MAX && width > 0 { least + self.extra } else { least })
    }

    fn counted(&mut self) -> Option<usize> {
        let (inside, rest) = self.rest.strip_prefix('{')?.split_once('}')?;
        self.rest = rest;
        let Some((least, most)) = inside.split_once(',') else { return inside.parse().ok() };
        let least: usize = least.parse().ok()?;
        let most = if most.is_empty() { usize::MAX } else { most.parse().ok()? };
        Some(least.saturating_add(self.extra).min(most))
    }

    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.rest = &self.rest[next.len_utf8()..];
        Some(next)
    }

    fn take(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.next();
        }
        found
    }
}

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
    fn common_patterns_get_a_text() {
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
        for (pattern, least, expected) in cases {
            assert_eq!(matching(pattern, least).as_deref(), expected, "{pattern}");
        }
    }
}
