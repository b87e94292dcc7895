//! Parses label selectors, with the error messages of apimachinery.

use super::requirement::{Operator, Requirement};

const NAME: &str = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
                    alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
                    '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const PREFIX: &str = "prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' \
                      or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for \
                      validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and \
                     must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', \
                     regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const LONGEST: usize = 63;

/// Parses `a=b,c!=d,e in (f,g),!h,i`.
pub(super) fn parse(written: &str) -> Result<Vec<Requirement>, String> {
    let mut parser = Parser { rest: written };
    let mut requirements = Vec::new();
    loop {
        match parser.peek() {
            "" => return Ok(requirements),
            word if word == "!" || is_word(word) => {
                let requirement = parser.requirement().map_err(|why| format!("unable to parse requirement: {why}"))?;
                requirements.push(requirement);
                match parser.take() {
                    "" => return Ok(requirements),
                    "," => {
                        let next = parser.peek();
                        if next != "!" && !is_word(next) {
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

struct Parser<'a> {
    rest: &'a str,
}

const SPECIAL: &str = "=!(),<>";

fn is_word(token: &str) -> bool {
    token.chars().next().is_some_and(|letter| !SPECIAL.contains(letter))
}

impl<'a> Parser<'a> {
    fn peek(&self) -> &'a str {
        Self { rest: self.rest }.take()
    }

    /// Consumes the next token; empty at the end.
    fn take(&mut self) -> &'a str {
        let text = self.rest.trim_start_matches([' ', '\t', '\r', '\n']);
        let length = if let Some(double) = ["==", "!="].into_iter().find(|double| text.starts_with(double)) {
            double.len()
        } else if text.starts_with(|letter| SPECIAL.contains(letter)) {
            1
        } else {
            let end = |letter: char| SPECIAL.contains(letter) || matches!(letter, ' ' | '\t' | '\r' | '\n');
            text.find(end).unwrap_or(text.len())
        };
        let (token, rest) = text.split_at(length);
        self.rest = rest;
        token
    }

    fn requirement(&mut self) -> Result<Requirement, String> {
        let mut key = self.take();
        let absent = key == "!";
        if absent {
            key = self.take();
        }
        if !is_word(key) {
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
        let operator = match self.take() {
            "in" => Operator::In,
            "notin" => Operator::NotIn,
            "=" | "==" => return Ok(new(Operator::In, vec![self.value(key)?])),
            "!=" => return Ok(new(Operator::NotIn, vec![self.value(key)?])),
            ">" => return Ok(new(Operator::Greater, vec![self.number(key)?])),
            "<" => return Ok(new(Operator::Less, vec![self.number(key)?])),
            other => return Err(format!("found '{other}', expected: in, notin, =, ==, !=, gt, lt")),
        };
        Ok(new(operator, self.values(key)?))
    }

    /// Parses one value; a missing one is empty.
    fn value(&mut self, key: &str) -> Result<String, String> {
        if matches!(self.peek(), "" | ",") {
            return Ok(String::new());
        }
        let value = self.take();
        if !is_word(value) {
            return Err(format!("found '{value}', expected: identifier"));
        }
        check_value(key, 0, value)?;
        Ok(value.to_owned())
    }

    fn number(&mut self, key: &str) -> Result<String, String> {
        let value = self.value(key)?;
        match value.parse::<i64>() {
            Ok(_) => Ok(value),
            Err(_) => {
                let why = "for 'Gt', 'Lt' operators, the value must be an integer";
                Err(format!("values[0]: Invalid value: {value:?}: {why}"))
            }
        }
    }

    /// Parses a list of values: `(a, b)`.
    fn values(&mut self, key: &str) -> Result<Vec<String>, String> {
        let open = self.take();
        if open != "(" {
            return Err(format!("found '{open}' expected: '('"));
        }
        let mut values = Vec::new();
        loop {
            let token = self.take();
            match token {
                ")" => {
                    values.push(String::new());
                    return Ok(values);
                }
                "," => values.push(String::new()),
                word if is_word(word) => {
                    check_value(key, values.len(), word)?;
                    values.push(word.to_owned());
                    match self.take() {
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

fn is_name(text: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let ends = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    text.bytes().all(inner) && ends(text.as_bytes().first()) && ends(text.as_bytes().last())
}

fn check_key(key: &str) -> Result<(), String> {
    let invalid = |why: &str| Err(format!("<nil>: Invalid value: {key:?}: {why}"));
    let (prefix, name) = key.split_once('/').map_or((None, key), |(prefix, name)| (Some(prefix), name));
    if let Some(prefix) = prefix {
        let part = |part: &str| {
            is_name(part) && !part.contains(['_', '.']) && part.bytes().all(|byte| !byte.is_ascii_uppercase())
        };
        if prefix.is_empty() {
            return invalid("prefix part must be non-empty");
        }
        if !prefix.split('.').all(part) {
            return invalid(PREFIX);
        }
    }
    match name {
        "" => invalid("name part must be non-empty"),
        name if name.len() > LONGEST => invalid("name part must be no more than 63 bytes"),
        name if !is_name(name) => invalid(NAME),
        _ => Ok(()),
    }
}

fn check_value(key: &str, index: usize, value: &str) -> Result<(), String> {
    let invalid = |why: &str| Err(format!("values[{index}][{key}]: Invalid value: {value:?}: {why}"));
    match value {
        value if value.len() > LONGEST => invalid("must be no more than 63 bytes"),
        value if !value.is_empty() && !is_name(value) => invalid(VALUE),
        _ => Ok(()),
    }
}
