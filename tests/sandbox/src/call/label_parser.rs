//! Parses label selectors, with the error messages of apimachinery.

use super::requirement::{Operator, Requirement};

/// The reason of an invalid name in a label key.
const NAME: &str = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
                    alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
                    '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
/// The reason of an invalid prefix in a label key.
const PREFIX: &str = "prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' \
                      or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for \
                      validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
/// The reason of an invalid label value.
const VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and \
                     must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', \
                     regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
/// The maximum length of the name in a key, and of a value.
const MAX_LENGTH: usize = 63;

/// Parses `a=b,c!=d,e in (f,g),!h,i` as `labels.Parse` of apimachinery. Returns its error message if the selector is
/// invalid.
pub(super) fn parse(selector: &str) -> Result<Vec<Requirement>, String> {
    let mut parser = Parser { input: selector };
    let mut requirements = Vec::new();
    loop {
        match parser.peek() {
            "" => return Ok(requirements),
            token if token == "!" || is_identifier(token) => {
                let requirement =
                    parser.parse_requirement().map_err(|why| format!("unable to parse requirement: {why}"))?;
                requirements.push(requirement);
                match parser.next_token() {
                    "" => return Ok(requirements),
                    "," => {
                        let next = parser.peek();
                        if next != "!" && !is_identifier(next) {
                            return Err(format!("found '{next}', expected: identifier after ','"));
                        }
                    }
                    other => return Err(format!("found '{other}', expected: ',' or 'end of string'")),
                }
            }
            other => return Err(format!("found '{other}', expected: !, identifier, or 'end of string'")),
        }
    }
}

/// The parser of a label selector, with the input that is not yet parsed.
struct Parser<'a> {
    input: &'a str,
}

/// The characters that are tokens, or parts of operators.
const SPECIAL: &str = "=!(),<>";

/// Returns whether a token is a key, a value or a word operator such as `in`. Returns `false` for the empty token, which stands for the end
/// of the input.
fn is_identifier(token: &str) -> bool {
    token.chars().next().is_some_and(|character| !SPECIAL.contains(character))
}

impl<'a> Parser<'a> {
    /// Returns the next token without consuming it; empty at the end of the input.
    fn peek(&self) -> &'a str {
        Self { input: self.input }.next_token()
    }

    /// Consumes white space and the next token, and returns the token: an operator, a special character or an identifier; empty at the end
    /// of the input.
    fn next_token(&mut self) -> &'a str {
        let text = self.input.trim_start_matches([' ', '\t', '\r', '\n']);
        let length = if let Some(operator) = ["==", "!="].into_iter().find(|operator| text.starts_with(operator)) {
            operator.len()
        } else if text.starts_with(|character| SPECIAL.contains(character)) {
            1
        } else {
            let is_end = |character: char| SPECIAL.contains(character) || matches!(character, ' ' | '\t' | '\r' | '\n');
            text.find(is_end).unwrap_or(text.len())
        };
        let (token, input) = text.split_at(length);
        self.input = input;
        token
    }

    /// Parses one requirement. Returns an error if a token is unexpected or the key or a value is invalid.
    fn parse_requirement(&mut self) -> Result<Requirement, String> {
        let mut key = self.next_token();
        let absent = key == "!";
        if absent {
            key = self.next_token();
        }
        if !is_identifier(key) {
            return Err(format!("found '{key}', expected: identifier"));
        }
        check_key(key)?;
        let new = |operator, values| Requirement { key: key.to_owned(), operator, values };
        if absent {
            return Ok(new(Operator::Absent, Vec::new()));
        }
        if matches!(self.peek(), "" | ",") {
            return Ok(new(Operator::Exists, Vec::new()));
        }
        let operator = match self.next_token() {
            "in" => Operator::In,
            "notin" => Operator::NotIn,
            "=" | "==" => return Ok(new(Operator::In, vec![self.parse_value(key)?])),
            "!=" => return Ok(new(Operator::NotIn, vec![self.parse_value(key)?])),
            ">" => return Ok(new(Operator::Greater, vec![self.parse_number(key)?])),
            "<" => return Ok(new(Operator::Less, vec![self.parse_number(key)?])),
            other => return Err(format!("found '{other}', expected: in, notin, =, ==, !=, gt, lt")),
        };
        Ok(new(operator, self.parse_values(key)?))
    }

    /// Parses the value after an operator such as `=`; a missing value counts as empty. Returns an error if the value is not a valid label
    /// value. `key` is the key of the requirement, for the message.
    fn parse_value(&mut self, key: &str) -> Result<String, String> {
        if matches!(self.peek(), "" | ",") {
            return Ok(String::new());
        }
        let value = self.next_token();
        if !is_identifier(value) {
            return Err(format!("found '{value}', expected: identifier"));
        }
        check_value(key, 0, value)?;
        Ok(value.to_owned())
    }

    /// Parses the value of `>` or `<`. Returns an error if it is not an integer.
    fn parse_number(&mut self, key: &str) -> Result<String, String> {
        let value = self.parse_value(key)?;
        match value.parse::<i64>() {
            Ok(_) => Ok(value),
            Err(_) => {
                let why = "for 'Gt', 'Lt' operators, the value must be an integer";
                Err(format!("values[0]: Invalid value: {value:?}: {why}"))
            }
        }
    }

    /// Parses a list of values: `(a, b)`. A missing value, as in `()` or `(a,,b)`, is empty. Returns an error if a token is unexpected or a
    /// value is invalid.
    fn parse_values(&mut self, key: &str) -> Result<Vec<String>, String> {
        let open = self.next_token();
        if open != "(" {
            return Err(format!("found '{open}' expected: '('"));
        }
        let mut values = Vec::new();
        loop {
            let token = self.next_token();
            match token {
                ")" => {
                    values.push(String::new());
                    return Ok(values);
                }
                "," => values.push(String::new()),
                value if is_identifier(value) => {
                    check_value(key, values.len(), value)?;
                    values.push(value.to_owned());
                    match self.next_token() {
                        ")" => return Ok(values),
                        "," => {}
                        other => return Err(format!("found '{other}', expected: ',' or ')'")),
                    }
                }
                other => return Err(format!("found '{other}', expected: ',', ')' or identifier")),
            }
        }
    }
}

/// Returns whether a text consists of the characters of a label name and starts and ends with an alphanumeric one.
fn is_name(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let is_alphanumeric = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    text.bytes().all(is_allowed) && is_alphanumeric(text.as_bytes().first()) && is_alphanumeric(text.as_bytes().last())
}

/// Fails if a label key is invalid (`validateLabelKey` of apimachinery).
fn check_key(key: &str) -> Result<(), String> {
    let invalid = |why: &str| Err(format!("<nil>: Invalid value: {key:?}: {why}"));
    let (prefix, name) = key.split_once('/').map_or((None, key), |(prefix, name)| (Some(prefix), name));
    if let Some(prefix) = prefix {
        let is_dns_label = |part: &str| {
            is_name(part) && !part.contains(['_', '.']) && part.bytes().all(|byte| !byte.is_ascii_uppercase())
        };
        if prefix.is_empty() {
            return invalid("prefix part must be non-empty");
        }
        if !prefix.split('.').all(is_dns_label) {
            return invalid(PREFIX);
        }
    }
    match name {
        "" => invalid("name part must be non-empty"),
        name if name.len() > MAX_LENGTH => invalid("name part must be no more than 63 bytes"),
        name if !is_name(name) => invalid(NAME),
        _ => Ok(()),
    }
}

/// Fails if a label value is invalid (`validateLabelValue` of apimachinery). `index` is its position in the
/// requirement.
fn check_value(key: &str, index: usize, value: &str) -> Result<(), String> {
    let invalid = |why: &str| Err(format!("values[{index}][{key}]: Invalid value: {value:?}: {why}"));
    match value {
        value if value.len() > MAX_LENGTH => invalid("must be no more than 63 bytes"),
        value if !value.is_empty() && !is_name(value) => invalid(VALUE),
        _ => Ok(()),
    }
}
