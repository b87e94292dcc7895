//! Converts the error output of `helm` to a sentence for a condition, without the values of the release and with a limited length.

use super::deployment::{HelmDeploymentSpec, HelmParameter};
use crate::bounds::foreign;
use serde_json::Value;

/// The maximum number of characters of a sentence.
const MAX_SENTENCE: usize = 400;
/// The minimum length of a value that is left out. A shorter one is no secret, and is a part of many words.
const MIN_HIDDEN: usize = 5;
/// What stands for a text that is left out.
const LEFT_OUT: &str = "…";

/// Returns the error in the standard error of a run as one line, cut after `MAX_SENTENCE` characters: the text after the last `Error: `
/// that begins a line, or the last line. Replaces values of the release, which may be secrets, with `…`.
pub(super) fn error_sentence(stderr: &str, spec: &HelmDeploymentSpec) -> String {
    let start = stderr.rmatch_indices("Error: ").find(|(at, _)| *at == 0 || stderr[..*at].ends_with('\n'));
    let error = match start {
        Some((at, prefix)) => &stderr[at + prefix.len()..],
        None => stderr.trim_end().lines().last().unwrap_or_default(),
    };
    let prefixes = ["UPGRADE FAILED: ", "INSTALLATION FAILED: "];
    let error = prefixes.iter().find_map(|prefix| error.strip_prefix(prefix)).unwrap_or(error);
    let mut text = without_invalid_values(error);
    for hidden in hidden_texts(spec) {
        text = text.replace(&hidden, LEFT_OUT);
    }
    // The port of a connection differs in each run: `read tcp 10.0.0.1:51234->10.0.0.2:443`.
    let words = text.split_whitespace().map(|word| if word.contains("->") { LEFT_OUT } else { word });
    let sentence = foreign(&words.collect::<Vec<_>>().join(" "));
    let end = sentence.char_indices().nth(MAX_SENTENCE).map(|(end, _)| end);
    match end {
        Some(end) => format!("{}{LEFT_OUT}", &sentence[..end]),
        None if sentence.is_empty() => "it failed without a message".to_owned(),
        None => sentence,
    }
}

/// Leaves out the values that the API server quotes in its messages: `Invalid value: "a": must be …`.
fn without_invalid_values(message: &str) -> String {
    /// The words before a value, without the first letter, which may be of either case.
    const INTRODUCTION: &str = "nvalid value: ";
    let mut parts = message.split(INTRODUCTION);
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        // A value without quotes ends at the next colon.
        let end = if part.starts_with('"') { end_of_quoted(part) } else { part.find(": ").unwrap_or(part.len()) };
        text.push_str(INTRODUCTION);
        text.push_str(LEFT_OUT);
        text.push_str(&part[end..]);
    }
    text
}

/// Returns the index after the closing quote of the quoted text with which `text` begins; the length of `text` if no quote closes it.
fn end_of_quoted(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, character) in text.char_indices().skip(1) {
        match character {
            '"' if !is_escaped => return at + 1,
            '\\' => is_escaped = !is_escaped,
            _ => is_escaped = false,
        }
    }
    text.len()
}

/// Returns the texts of a release that may be secrets, the longest first: values, parameters, and the user in the URL of the repository.
fn hidden_texts(spec: &HelmDeploymentSpec) -> Vec<String> {
    let mut texts = Vec::new();
    spec.values.values().for_each(|value| add_texts(value, &mut texts));
    for HelmParameter { value, .. } in &spec.parameters {
        add_text(value, &mut texts);
    }
    let authority =
        spec.repository.split_once("://").map_or("", |(_, rest)| rest).split('/').next().unwrap_or_default();
    if let Some((user, _)) = authority.rsplit_once('@') {
        add_text(user, &mut texts);
        add_text(user.split_once(':').map_or("", |(_, password)| password), &mut texts);
    }
    texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
    texts.dedup();
    texts
}

/// Adds the texts and the numbers in a JSON value, at any depth, to the texts that are left out.
fn add_texts(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => add_text(text, texts),
        Value::Number(number) => add_text(&number.to_string(), texts),
        Value::Array(items) => items.iter().for_each(|item| add_texts(item, texts)),
        Value::Object(fields) => fields.values().for_each(|field| add_texts(field, texts)),
        Value::Null | Value::Bool(_) => {}
    }
}

/// Adds a text and each of its lines to the texts that are left out, both as written and with the escapes of a quoted text. Skips texts
/// that are shorter than `MIN_HIDDEN`.
fn add_text(text: &str, texts: &mut Vec<String>) {
    for part in std::iter::once(text).chain(text.lines()).map(str::trim).filter(|part| part.len() >= MIN_HIDDEN) {
        let quoted = Value::from(part).to_string();
        texts.push(quoted[1..quoted.len() - 1].to_owned());
        texts.push(part.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Returns a spec with values, a parameter and a user in the URL that messages must not contain.
    fn spec() -> HelmDeploymentSpec {
        let mut spec = HelmDeploymentSpec {
            repository: "https://robot:trustno1@charts.example.com/a".to_owned(),
            parameters: vec![HelmParameter { name: "database.password".to_owned(), value: "hunter2".to_owned() }],
            ..HelmDeploymentSpec::default()
        };
        let values = json!({"name": "web", "keys": [{"pin": 271_828}, "first line\nsecond \"line\""]});
        if let Value::Object(values) = values {
            spec.values = values;
        }
        spec
    }

    #[test]
    fn the_error_is_the_text_after_the_last_error_prefix() {
        for (stderr, expected) in [
            (
                "level=WARN msg=\"a\"\nError: chart \"web\" version \"9.9.9\" not found in https://a repository\n",
                "chart \"web\" version \"9.9.9\" not found in https://a repository",
            ),
            ("Error: UPGRADE FAILED: pre-upgrade hooks failed:\n  1 error\n", "pre-upgrade hooks failed: 1 error"),
            ("Error: first\nError: second", "second"),
            ("panic\nthe last line\n\n", "the last line"),
            ("the Error: is within a line", "the Error: is within a line"),
            ("Error: ", "it failed without a message"),
            ("", "it failed without a message"),
            ("Error: read tcp 10.0.0.1:51234->10.0.0.2:443: i/o timeout", "read tcp … i/o timeout"),
        ] {
            assert_eq!(error_sentence(stderr, &HelmDeploymentSpec::default()), expected);
        }
        let long = error_sentence(&format!("Error: {}", "word ".repeat(200)), &HelmDeploymentSpec::default());
        assert!(long.chars().count() == MAX_SENTENCE + 1 && long.ends_with(LEFT_OUT), "{long}");
    }

    #[test]
    fn a_sentence_has_no_values() {
        for (stderr, expected) in [
            ("Error: strconv.Atoi: parsing \"hunter2\": invalid syntax", "strconv.Atoi: parsing \"…\": invalid syntax"),
            ("Error: `271828` and second \\\"line\\\" of first line", "`…` and … of …"),
            (
                "Error: looks like \"https://robot:trustno1@charts.example.com/a\" cannot be reached",
                "looks like \"https://…@charts.example.com/a\" cannot be reached",
            ),
            (
                "Error: Service \"web\" is invalid: spec.type: Invalid value: \"a\\\": b\": must be one of, spec.ports: \
                 Invalid value: 70000: must be less",
                "Service \"web\" is invalid: spec.type: Invalid value: …: must be one of, spec.ports: Invalid value: …: must be less",
            ),
        ] {
            assert_eq!(error_sentence(stderr, &spec()), expected);
        }
    }
}
