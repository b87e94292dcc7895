//! Detects syntax errors in JSON and reports them with the messages of Go's decoder.

/// Returns the first syntax error, as a message of Go's `encoding/json`; `None` if the text is valid JSON.
pub(crate) fn syntax_error(text: &[u8]) -> Option<String> {
    let mut reader = Reader { text, position: 0 };
    reader.check_value().and_then(|()| reader.check_end()).err()
}

/// The maximum nesting depth of Go's decoder.
const MAX_DEPTH: usize = 10_000;

/// The text to check and the current position.
struct Reader<'a> {
    text: &'a [u8],
    position: usize,
}

impl Reader<'_> {
    /// Skips white space and returns the next byte; `None` at the end.
    fn peek(&mut self) -> Option<u8> {
        while self.text.get(self.position).is_some_and(u8::is_ascii_whitespace) {
            self.position += 1;
        }
        self.text.get(self.position).copied()
    }

    /// Fails unless only white space follows.
    fn check_end(&mut self) -> Result<(), String> {
        match self.peek() {
            None => Ok(()),
            Some(byte) => Err(unexpected(byte, "after top-level value")),
        }
    }

    /// Checks a value with all nested values. Keeps the closing brackets of open objects and arrays in a list instead of using recursion,
    /// so that deeply nested input can't overflow the stack.
    fn check_value(&mut self) -> Result<(), String> {
        let mut brackets = Vec::new();
        loop {
            let closing = match self.peek() {
                None => return Err(unexpected_end()),
                Some(bracket @ (b'{' | b'[')) => self.open_bracket(bracket)?,
                Some(byte) => self.check_scalar(byte).map(|()| None)?,
            };
            match closing {
                Some(_) if brackets.len() == MAX_DEPTH => return Err("exceeded max depth".to_owned()),
                // An object or array was opened: the next value is the first one inside.
                Some(close) => brackets.push(close),
                // A value is complete: closes all objects and arrays that end after it.
                None => {
                    while let Some(close) = brackets.last().copied() {
                        if self.next_element(close)? {
                            break;
                        }
                        brackets.pop();
                    }
                    if brackets.is_empty() {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Checks a value other than an object or array, which starts with the byte `first`.
    fn check_scalar(&mut self, first: u8) -> Result<(), String> {
        match first {
            b'"' => self.check_string(),
            b't' => self.check_literal("true"),
            b'f' => self.check_literal("false"),
            b'n' => self.check_literal("null"),
            b'-' | b'0'..=b'9' => self.check_number(),
            byte => Err(unexpected(byte, "looking for beginning of value")),
        }
    }

    /// Consumes an opening bracket and the first key of an object. Returns the closing bracket; `None` if the brackets
    /// are empty.
    fn open_bracket(&mut self, bracket: u8) -> Result<Option<u8>, String> {
        self.position += 1;
        let close = if bracket == b'{' { b'}' } else { b']' };
        if self.peek() == Some(close) {
            self.position += 1;
            return Ok(None);
        }
        if bracket == b'{' {
            self.check_key()?;
        }
        Ok(Some(close))
    }

    /// Checks the key of an object and the colon after it.
    fn check_key(&mut self) -> Result<(), String> {
        match self.peek() {
            Some(b'"') => self.check_string()?,
            Some(byte) => return Err(unexpected(byte, "looking for beginning of object key string")),
            None => return Err(unexpected_end()),
        }
        match self.peek() {
            Some(b':') => {
                self.position += 1;
                Ok(())
            }
            Some(byte) => Err(unexpected(byte, "after object key")),
            None => Err(unexpected_end()),
        }
    }

    /// Reads `,` or `close` after a value, and after `,` in an object also the next key. Returns whether another value follows.
    fn next_element(&mut self, close: u8) -> Result<bool, String> {
        let context = if close == b'}' { "after object key:value pair" } else { "after array element" };
        match self.peek() {
            Some(b',') => {
                self.position += 1;
                if close == b'}' {
                    self.check_key()?;
                }
                Ok(true)
            }
            Some(byte) if byte == close => {
                self.position += 1;
                Ok(false)
            }
            Some(byte) => Err(unexpected(byte, context)),
            None => Err(unexpected_end()),
        }
    }

    /// Checks a string with its escapes.
    fn check_string(&mut self) -> Result<(), String> {
        self.position += 1;
        loop {
            match self.next_byte()? {
                b'"' => return Ok(()),
                b'\\' => match self.next_byte()? {
                    b'b' | b'f' | b'n' | b'r' | b't' | b'\\' | b'/' | b'"' => {}
                    b'u' => {
                        for _ in 0..4 {
                            let digit = self.next_byte()?;
                            if !digit.is_ascii_hexdigit() {
                                return Err(unexpected(digit, "in \\u hexadecimal character escape"));
                            }
                        }
                    }
                    byte => return Err(unexpected(byte, "in string escape code")),
                },
                byte if byte < 0x20 => return Err(unexpected(byte, "in string literal")),
                _ => {}
            }
        }
    }

    /// Checks `true`, `false` or `null`, whose first byte is already known.
    fn check_literal(&mut self, literal: &str) -> Result<(), String> {
        self.position += 1;
        for expected in literal.bytes().skip(1) {
            let byte = self.next_byte()?;
            if byte != expected {
                let context = format!("in literal {literal} (expecting {})", go_quoted(expected));
                return Err(unexpected(byte, &context));
            }
        }
        Ok(())
    }

    /// Checks a number with its fraction and exponent.
    fn check_number(&mut self) -> Result<(), String> {
        if self.text.get(self.position) == Some(&b'-') {
            self.position += 1;
        }
        if self.text.get(self.position) == Some(&b'0') {
            self.position += 1;
        } else {
            self.check_digits("in numeric literal")?;
        }
        if self.text.get(self.position) == Some(&b'.') {
            self.position += 1;
            self.check_digits("after decimal point in numeric literal")?;
        }
        if matches!(self.text.get(self.position), Some(b'e' | b'E')) {
            self.position += 1;
            if matches!(self.text.get(self.position), Some(b'+' | b'-')) {
                self.position += 1;
            }
            self.check_digits("in exponent of numeric literal")?;
        }
        Ok(())
    }

    /// Consumes at least one digit. Fails if the next byte is not a digit; the message ends with `context`.
    fn check_digits(&mut self, context: &str) -> Result<(), String> {
        let first = self.next_byte()?;
        if !first.is_ascii_digit() {
            return Err(unexpected(first, context));
        }
        while self.text.get(self.position).is_some_and(u8::is_ascii_digit) {
            self.position += 1;
        }
        Ok(())
    }

    /// Consumes the next byte. Fails at the end.
    fn next_byte(&mut self) -> Result<u8, String> {
        let byte = self.text.get(self.position).copied().ok_or_else(unexpected_end)?;
        self.position += 1;
        Ok(byte)
    }
}

fn unexpected_end() -> String {
    "unexpected end of JSON input".to_owned()
}

/// Returns the error for an unexpected byte; `context` describes its position, such as `after object key`.
fn unexpected(byte: u8, context: &str) -> String {
    format!("invalid character {} {context}", go_quoted(byte))
}

/// Formats a byte in single quotes, with the escapes that Go uses in messages about invalid characters.
fn go_quoted(byte: u8) -> String {
    match byte {
        b'\'' => "'\\''".to_owned(),
        b'"' => "'\"'".to_owned(),
        b'\n' => "'\\n'".to_owned(),
        b'\r' => "'\\r'".to_owned(),
        b'\t' => "'\\t'".to_owned(),
        0x20..=0x7e | 0xa1.. => format!("'{}'", char::from(byte)),
        _ => format!("'\\x{byte:02x}'"),
    }
}

#[cfg(test)]
mod tests {
    use super::syntax_error;

    #[test]
    fn syntax_errors_have_the_messages_of_go() {
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
        for (text, message) in cases {
            assert_eq!(syntax_error(text.as_bytes()).as_deref(), Some(message), "{text}");
        }
        let deep = "[".repeat(20_000);
        assert_eq!(syntax_error(deep.as_bytes()).as_deref(), Some("exceeded max depth"));
        assert_eq!(syntax_error(b"[[], [{}], {\"a\": [], \"b\": {\"c\": 1}}]"), None);
        assert_eq!(syntax_error(b" {\"a\": [1, -0.5e+3, true, null, \"\\u00e4\"]} "), None);
    }
}
