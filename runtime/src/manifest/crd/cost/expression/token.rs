//! Splits a CEL expression into tokens, for the cost estimate.

/// One token of an expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Name(String),
    /// A string literal, with its length in bytes.
    Text(f64),
    Number,
    Sign(&'static str),
}

const SIGNS: [&str; 27] = [
    "&&", "||", "==", "!=", "<=", ">=", "<", ">", "!", "?", ":", ".", ",", "(", ")", "[", "]", "{", "}", "+", "-", "*",
    "/", "%", "=", "|", "&",
];

/// Returns the tokens of a CEL `expression`, without comments; `None` if it contains text that is no CEL token.
pub(super) fn tokens(expression: &str) -> Option<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut rest = expression.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = if let Some(comment) = rest.strip_prefix("//") {
            2 + comment.find('\n').unwrap_or(comment.len())
        } else if let Some((length, size)) = string_literal(rest) {
            tokens.push(Token::Text(size));
            length
        } else if first.is_ascii_digit() {
            tokens.push(Token::Number);
            number(rest)
        } else if first.is_ascii_alphabetic() || first == '_' {
            let length = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
            tokens.push(match &rest[..length] {
                "true" | "false" | "null" => Token::Number,
                name => Token::Name(name.to_owned()),
            });
            length
        } else if let Some(name) = rest.strip_prefix('`') {
            let length = name.find('`')?;
            tokens.push(Token::Name(name[..length].to_owned()));
            length + 2
        } else {
            let sign = SIGNS.into_iter().find(|sign| rest.starts_with(sign))?;
            tokens.push(Token::Sign(sign));
            sign.len()
        };
        rest = rest[length..].trim_start();
    }
    Some(tokens)
}

/// Returns the length in bytes of the number at the start of `rest`. A number consists of digits, letters (as in `0x1F`, `1u` and `1e5`),
/// signs of exponents, and points before a digit.
fn number(rest: &str) -> usize {
    let mut end = 0;
    let bytes = rest.as_bytes();
    while end < bytes.len() {
        let point = bytes[end] == b'.' && bytes.get(end + 1).is_some_and(u8::is_ascii_digit);
        let exponent = matches!(bytes[end], b'+' | b'-') && end > 0 && matches!(bytes[end - 1], b'e' | b'E');
        if !(bytes[end].is_ascii_alphanumeric() || point || exponent && !rest.starts_with("0x")) {
            break;
        }
        end += 1;
    }
    end
}

/// Returns the length of the string literal at the start of `rest`, with its prefix and its quotes, and the length of its content, both in
/// bytes. Returns `None` if `rest` doesn't start with a complete literal.
fn string_literal(rest: &str) -> Option<(usize, f64)> {
    // At most two of the letters `r` (raw) and `b` (bytes) may stand before the quotes.
    let prefix = rest.find(['"', '\'']).filter(|end| rest[..*end].chars().all(|c| "rRbB".contains(c)) && *end < 3)?;
    let raw = rest[..prefix].contains(['r', 'R']);
    let body = &rest[prefix..];
    let single = &body[..1];
    let triple = single.repeat(3);
    let quote = if body.starts_with(&triple) { triple.as_str() } else { single };
    let mut end = quote.len();
    while !body.get(end..)?.starts_with(quote) {
        let next = body[end..].chars().next()?;
        end += next.len_utf8();
        // Skip the character behind a backslash, which may be a quote.
        if next == '\\' && !raw {
            end += body[end..].chars().next()?.len_utf8();
        }
    }
    #[allow(clippy::cast_precision_loss)]
    let size = (end - quote.len()) as f64;
    Some((prefix + end + quote.len(), size))
}
