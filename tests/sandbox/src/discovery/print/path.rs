//! Parses and evaluates the subset of kubectl's JSONPath that printer columns use.

use serde_json::Value;

/// A path like `.status.conditions[?(@.type=="Ready")].status`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct JsonPath(Vec<PathStep>);

/// A step of a path.
#[derive(Clone, Debug, PartialEq)]
enum PathStep {
    /// A field of an object.
    Field(String),
    /// An index; a negative one counts from the end.
    Index(i64),
    /// All items of a list, or all values of an object.
    All,
    /// A range from a start to an end, or to the end of the list.
    Slice(i64, Option<i64>),
    /// The items for which the field at a path equals the value (`true`) or differs from it (`false`).
    Where(Vec<String>, bool, Value),
    /// The items that have a field at a path.
    Has(Vec<String>),
}

impl JsonPath {
    /// Parses a path; `None` if it is invalid or not supported.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (mut rest, mut steps) = (text.trim(), Vec::new());
        rest = rest.strip_prefix('$').unwrap_or(rest);
        while !rest.is_empty() {
            rest = if let Some(bracketed) = rest.strip_prefix('[') {
                let end = closing_bracket(bracketed)?;
                steps.push(parse_brackets(bracketed.get(..end)?)?);
                bracketed.get(end + 1..)?
            } else {
                let (field, after) = parse_field(rest.strip_prefix('.').unwrap_or(rest))?;
                steps.push(if field == "*" { PathStep::All } else { PathStep::Field(field) });
                after
            };
        }
        Some(Self(steps))
    }

    /// Returns all values at the path, found by applying each step to the values of the step before.
    pub(super) fn find<'a>(&self, value: &'a Value) -> Vec<&'a Value> {
        self.0.iter().fold(vec![value], |found, step| found.into_iter().flat_map(|value| step.select(value)).collect())
    }
}

impl PathStep {
    /// Returns the values that the step selects from a value; none if it does not apply.
    fn select<'a>(&self, value: &'a Value) -> Vec<&'a Value> {
        let items = || value.as_array().map(Vec::as_slice).unwrap_or_default();
        match self {
            Self::Field(name) => value.get(name).into_iter().collect(),
            Self::Index(index) => items().get(position(*index, items().len())).into_iter().collect(),
            Self::All => match value {
                Value::Object(map) => map.values().collect(),
                _ => items().iter().collect(),
            },
            Self::Slice(from, to) => {
                let length = items().len();
                let to = to.map_or(length, |to| position(to, length)).min(length);
                items().get(position(*from, length).min(to)..to).unwrap_or_default().iter().collect()
            }
            Self::Where(path, equal, wanted) => items()
                .iter()
                .filter(|item| field_at(item, path).is_some_and(|field| (field == wanted) == *equal))
                .collect(),
            Self::Has(path) => items().iter().filter(|item| field_at(item, path).is_some()).collect(),
        }
    }
}

/// Returns the value of nested fields; `None` if one is missing.
fn field_at<'a>(value: &'a Value, path: &[String]) -> Option<&'a Value> {
    path.iter().try_fold(value, |value, name| value.get(name))
}

/// Converts an index, which counts from the end if it is negative, to a position; `usize::MAX` if it is out of range.
fn position(index: i64, length: usize) -> usize {
    let from_end = usize::try_from(index.unsigned_abs()).ok().and_then(|back| length.checked_sub(back));
    if index < 0 { from_end.unwrap_or(usize::MAX) } else { usize::try_from(index).unwrap_or(usize::MAX) }
}

/// Parses a name up to the next dot or bracket, and returns it with the remaining text. A backslash escapes the next
/// character. `None` if the name is empty.
fn parse_field(text: &str) -> Option<(String, &str)> {
    let (mut name, mut chars) = (String::new(), text.char_indices());
    while let Some((position, character)) = chars.next() {
        match character {
            '.' | '[' => return (!name.is_empty()).then(|| (name, &text[position..])),
            '\\' => name.push(chars.next()?.1),
            _ => name.push(character),
        }
    }
    (!name.is_empty()).then_some((name, ""))
}

/// Returns the position of the bracket that closes the bracket before `text`; skips nested brackets and brackets in quotes. `None` if it is
/// not closed.
fn closing_bracket(text: &str) -> Option<usize> {
    let (mut quote, mut depth) = (None, 0);
    for (position, character) in text.char_indices() {
        match (quote, character) {
            (Some(open), _) if character == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(character),
            (None, '[') => depth += 1,
            (None, ']') if depth == 0 => return Some(position),
            (None, ']') => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Parses the text between brackets: a filter, a quoted field, `*`, a slice or an index. `None` if it is invalid.
fn parse_brackets(text: &str) -> Option<PathStep> {
    let text = text.trim();
    if let Some(filter) = text.strip_prefix("?(") {
        return parse_filter(filter.strip_suffix(')')?);
    }
    if let Some(name) = unquote(text) {
        return Some(PathStep::Field(name.replace('\\', "")));
    }
    if text == "*" {
        return Some(PathStep::All);
    }
    if let Some((from, to)) = text.split_once(':') {
        let from = if from.trim().is_empty() { 0 } else { from.trim().parse().ok()? };
        let to = if to.trim().is_empty() { None } else { Some(to.trim().parse().ok()?) };
        return Some(PathStep::Slice(from, to));
    }
    text.parse().ok().map(PathStep::Index)
}

/// Parses a filter that compares a field with a value, `@.type=="Ready"` or `@.type!="Ready"`, or requires a field, `@.type`. `None` if it
/// is invalid or not supported.
fn parse_filter(text: &str) -> Option<PathStep> {
    // Parses `@.a.b` into the names of the nested fields.
    let path = |text: &str| -> Option<Vec<String>> {
        let (mut rest, mut names) = (text.trim().strip_prefix('@')?, Vec::new());
        while !rest.is_empty() {
            let (name, after) = parse_field(rest.strip_prefix('.')?)?;
            names.push(name);
            rest = after;
        }
        Some(names)
    };
    let compared = text.split_once("==").map(|parts| (parts, true));
    match compared.or_else(|| text.split_once("!=").map(|parts| (parts, false))) {
        Some(((left, right), equal)) => {
            let right = right.trim();
            let value = match unquote(right) {
                Some(string) => string.into(),
                None => serde_json::from_str(right).ok()?,
            };
            Some(PathStep::Where(path(left)?, equal, value))
        }
        None => Some(PathStep::Has(path(text)?)),
    }
}

/// Returns the text between single or double quotes; `None` if it is not quoted.
fn unquote(text: &str) -> Option<&str> {
    let within = |quote| text.strip_prefix(quote)?.strip_suffix(quote);
    within('\'').or_else(|| within('"'))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn json_paths_find_their_values() {
        let object = json!({
            "spec": {"items": [{"name": "a"}, {"name": "b"}, {"name": "c"}]},
            "metadata": {"labels": {"app.x/y": "lab"}},
            "status": {"conditions": [{"type": "Ready", "status": "True"}, {"type": "Old", "status": "False"}]},
        });
        let found = |path: &str| serde_json::to_string(&JsonPath::parse(path).unwrap().find(&object)).unwrap();
        assert_eq!(found(".spec.items[*].name"), r#"["a","b","c"]"#);
        assert_eq!(found(".spec.items[1].name"), r#"["b"]"#);
        assert_eq!(found(".spec.items[-1].name"), r#"["c"]"#);
        assert_eq!(found(".spec.items[1:].name"), r#"["b","c"]"#);
        assert_eq!(found(".spec.items[9].name"), "[]");
        assert_eq!(found(r".metadata.labels['app\.x/y']"), r#"["lab"]"#);
        assert_eq!(found(r".metadata.labels.app\.x/y"), r#"["lab"]"#);
        assert_eq!(found(r#".status.conditions[?(@.type=="Ready")].status"#), r#"["True"]"#);
        assert_eq!(found(".status.conditions[?(@.type!='Ready')].status"), r#"["False"]"#);
        assert_eq!(found(".status.conditions[?(@.gone)].status"), "[]");
        for invalid in [".a[", ".a[x]", ".a[?(@.b==)]", "..", ".a..b"] {
            assert_eq!(JsonPath::parse(invalid), None, "{invalid}");
        }
    }
}
