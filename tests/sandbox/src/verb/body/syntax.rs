//! Detects syntax errors of JSON and words them as Go's decoder does.

/// Returns the first syntax error; `None` if the text is valid JSON.
pub(crate) fn syntax_error(text: &[u8]) -> Option<String> {
    let mut reader = Reader { text, at: 0 };
    reader.value().and_then(|()| reader.end()).err()
}

/// The maximum nesting depth of Go's decoder.
const DEEPEST: usize = 10_000;

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn peek(&mut self) -> Option<u8> {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    fn end(&mut self) -> Result<(), String> {
        match self.peek() {
            None => Ok(()),
            Some(letter) => Err(unexpected(letter, "after top-level value")),
        }
    }

    /// Parses a value with everything in it. Open brackets are kept in a list, so that the input doesn't determine the
    /// depth of the stack.
    fn value(&mut self) -> Result<(), String> {
        let mut open = Vec::new();
        loop {
            let opened = match self.peek() {
                None => return Err(ended()),
                Some(bracket @ (b'{' | b'[')) => self.opens(bracket)?,
                Some(letter) => self.scalar(letter).map(|()| None)?,
            };
            match opened {
                Some(_) if open.len() == DEEPEST => return Err("exceeded max depth".to_owned()),
                Some(close) => open.push(close),
                None => {
                    while let Some(close) = open.last().copied() {
                        if self.goes_on(close)? {
                            break;
                        }
                        open.pop();
                    }
                    if open.is_empty() {
                        return Ok(());
                    }
                }
            }
        }
    }

    fn scalar(&mut self, begins: u8) -> Result<(), String> {
        match begins {
            b'"' => self.text(),
            b't' => self.word("true"),
            b'f' => self.word("false"),
            b'n' => self.word("null"),
            b'-' | b'0'..=b'9' => self.number(),
            letter => Err(unexpected(letter, "looking for beginning of value")),
        }
    }

    /// Consumes an opening bracket and returns its closing one; `None` if the brackets are empty.
    fn opens(&mut self, bracket: u8) -> Result<Option<u8>, String> {
        self.at += 1;
        let close = if bracket == b'{' { b'}' } else { b']' };
        if self.peek() == Some(close) {
            self.at += 1;
            return Ok(None);
        }
        if bracket == b'{' {
            self.key()?;
        }
        Ok(Some(close))
    }

    fn key(&mut self) -> Result<(), String> {
        match self.peek() {
            Some(b'"') => self.text()?,
            Some(letter) => return Err(unexpected(letter, "looking for beginning of object key string")),
            None => return Err(ended()),
        }
        match self.peek() {
            Some(b':') => {
                self.at += 1;
                Ok(())
            }
            Some(letter) => Err(unexpected(letter, "after object key")),
            None => Err(ended()),
        }
    }

    /// Consumes the separator after a value; returns whether another value follows.
    fn goes_on(&mut self, close: u8) -> Result<bool, String> {
        let place = if close == b'}' { "after object key:value pair" } else { "after array element" };
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                if close == b'}' {
                    self.key()?;
                }
                Ok(true)
            }
            Some(letter) if letter == close => {
                self.at += 1;
                Ok(false)
            }
            Some(letter) => Err(unexpected(letter, place)),
            None => Err(ended()),
        }
    }

    fn text(&mut self) -> Result<(), String> {
        self.at += 1;
        loop {
            match self.next()? {
                b'"' => return Ok(()),
                b'\\' => match self.next()? {
                    b'b' | b'f' | b'n' | b'r' | b't' | b'\\' | b'/' | b'"' => {}
                    b'u' => {
                        for _ in 0..4 {
                            let digit = self.next()?;
                            if !digit.is_ascii_hexdigit() {
                                return Err(unexpected(digit, "in \\u hexadecimal character escape"));
                            }
                        }
                    }
                    letter => return Err(unexpected(letter, "in string escape code")),
                },
                letter if letter < 0x20 => return Err(unexpected(letter, "in string literal")),
                _ => {}
            }
        }
    }

    fn word(&mut self, word: &str) -> Result<(), String> {
        self.at += 1;
        for wanted in word.bytes().skip(1) {
            let letter = self.next()?;
            if letter != wanted {
                let place = format!("in literal {word} (expecting {})", quoted(wanted));
                return Err(unexpected(letter, &place));
            }
        }
        Ok(())
    }

    fn number(&mut self) -> Result<(), String> {
        if self.text.get(self.at) == Some(&b'-') {
            self.at += 1;
        }
        if self.text.get(self.at) == Some(&b'0') {
            self.at += 1;
        } else {
            self.digits("in numeric literal")?;
        }
        if self.text.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.digits("after decimal point in numeric literal")?;
        }
        if matches!(self.text.get(self.at), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.text.get(self.at), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits("in exponent of numeric literal")?;
        }
        Ok(())
    }

    fn digits(&mut self, place: &str) -> Result<(), String> {
        let first = self.next()?;
        if !first.is_ascii_digit() {
            return Err(unexpected(first, place));
        }
        while self.text.get(self.at).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
        }
        Ok(())
    }

    fn next(&mut self) -> Result<u8, String> {
        let letter = self.text.get(self.at).copied().ok_or_else(ended)?;
        self.at += 1;
        Ok(letter)
    }
}

fn ended() -> String {
    "unexpected end of JSON input".to_owned()
}

fn unexpected(letter: u8, place: &str) -> String {
    format!("invalid character {} {place}", quoted(letter))
}

/// Formats a byte as Go does.
fn quoted(letter: u8) -> String {
    match letter {
        b'\'' => "'\\''".to_owned(),
        b'"' => "'\"'".to_owned(),
        b'\n' => "'\\n'".to_owned(),
        b'\r' => "'\\r'".to_owned(),
        b'\t' => "'\\t'".to_owned(),
        0x20..=0x7e | 0xa1.. => format!("'{}'", char::from(letter)),
        _ => format!("'\\x{letter:02x}'"),
    }
}

#[cfg(test)]
mod tests {
    use super::syntax_error;

    #[test]
    fn syntax_errors_have_the_words_of_go() {
        let cases: [(&str, &str); 14] = [
            ("{", "unexpected end of JSON input"),
            ("", "unexpected end of JSON input"),
            ("{\"a\":1,}", "invalid character '}' looking for beginning of object key string"),
            ("{} x", "invalid character 'x' after top-level value"),
            ("i", "invalid character 'i' looking for beginning of value"),
            ("{\"a\" 1}", "invalid character '1' after object key"),
            ("{\"a\":1 \"b\"}", "invalid character '\"' after object key:value pair"),
            ("[1 2]", "invalid character '2' after array element"),
            ("\"a\nb\"", "invalid character '\\n' in string literal"),
            ("\"\\q\"", "invalid character 'q' in string escape code"),
            ("nul!", "invalid character '!' in literal null (expecting 'l')"),
            ("-x", "invalid character 'x' in numeric literal"),
            ("1.x", "invalid character 'x' after decimal point in numeric literal"),
            ("\u{1}", "invalid character '\\x01' looking for beginning of value"),
        ];
        for (text, said) in cases {
            assert_eq!(syntax_error(text.as_bytes()).as_deref(), Some(said), "{text}");
        }
        let deep = "[".repeat(20_000);
        assert_eq!(syntax_error(deep.as_bytes()).as_deref(), Some("exceeded max depth"));
        assert_eq!(syntax_error(b"[[], [{}], {\"a\": [], \"b\": {\"c\": 1}}]"), None);
        assert_eq!(syntax_error(b" {\"a\": [1, -0.5e+3, true, null, \"\\u00e4\"]} "), None);
    }
}
