//! Parses and evaluates the subset of kubectl's JSONPath that printer columns use.

use serde_json::Value;

/// A path like `.status.conditions[?(@.type=="Ready")].status`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct JsonPath(Vec<PathStep>);

#[derive(Clone, Debug, PartialEq)]
enum PathStep {
    Field(String),
    /// An index; a negative one counts from the end.
    Index(i64),
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
    pub(super) fn of(written: &str) -> Option<Self> {
        let (mut rest, mut steps) = (written.trim(), Vec::new());
        rest = rest.strip_prefix('$').unwrap_or(rest);
        while !rest.is_empty() {
            rest = if let Some(bracketed) = rest.strip_prefix('[') {
                let end = closing(bracketed)?;
                steps.push(in_brackets(bracketed.get(..end)?)?);
                bracketed.get(end + 1..)?
            } else {
                let (field, after) = field(rest.strip_prefix('.').unwrap_or(rest))?;
                steps.push(if field == "*" { PathStep::All } else { PathStep::Field(field) });
                after
            };
        }
        Some(Self(steps))
    }

    /// Returns all values at the path.
    pub(super) fn find<'a>(&self, value: &'a Value) -> Vec<&'a Value> {
        self.0.iter().fold(vec![value], |found, step| found.into_iter().flat_map(|value| step.of(value)).collect())
    }
}

impl PathStep {
    fn of<'a>(&self, value: &'a Value) -> Vec<&'a Value> {
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
            Self::Where(path, equal, wanted) => {
                items().iter().filter(|item| deep(item, path).is_some_and(|is| (is == wanted) == *equal)).collect()
            }
            Self::Has(path) => items().iter().filter(|item| deep(item, path).is_some()).collect(),
        }
    }
}

fn deep<'a>(value: &'a Value, path: &[String]) -> Option<&'a Value> {
    path.iter().try_fold(value, |value, name| value.get(name))
}

fn position(index: i64, length: usize) -> usize {
    let from_end = usize::try_from(index.unsigned_abs()).ok().and_then(|back| length.checked_sub(back));
    if index < 0 { from_end.unwrap_or(usize::MAX) } else { usize::try_from(index).unwrap_or(usize::MAX) }
}

/// Parses a name up to the next dot or bracket; a backslash escapes the next character.
fn field(written: &str) -> Option<(String, &str)> {
    let (mut name, mut letters) = (String::new(), written.char_indices());
    while let Some((at, letter)) = letters.next() {
        match letter {
            '.' | '[' => return (!name.is_empty()).then(|| (name, &written[at..])),
            '\\' => name.push(letters.next()?.1),
            _ => name.push(letter),
        }
    }
    (!name.is_empty()).then_some((name, ""))
}

/// Returns the position of the bracket that closes the open one; brackets in quotes don't count.
fn closing(written: &str) -> Option<usize> {
    let (mut quote, mut depth) = (None, 0);
    for (at, letter) in written.char_indices() {
        match (quote, letter) {
            (Some(open), _) if letter == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(letter),
            (None, '[') => depth += 1,
            (None, ']') if depth == 0 => return Some(at),
            (None, ']') => depth -= 1,
            _ => {}
        }
    }
    None
}

fn in_brackets(written: &str) -> Option<PathStep> {
    let written = written.trim();
    if let Some(filter) = written.strip_prefix("?(") {
        return filtered(filter.strip_suffix(')')?);
    }
    if let Some(name) = quoted(written) {
        return Some(PathStep::Field(name.replace('\\', "")));
    }
    if written == "*" {
        return Some(PathStep::All);
    }
    if let Some((from, to)) = written.split_once(':') {
        let from = if from.trim().is_empty() { 0 } else { from.trim().parse().ok()? };
        let to = if to.trim().is_empty() { None } else { Some(to.trim().parse().ok()?) };
        return Some(PathStep::Slice(from, to));
    }
    written.parse().ok().map(PathStep::Index)
}

/// Parses a filter: `@.type=="Ready"`.
fn filtered(written: &str) -> Option<PathStep> {
    let path = |written: &str| -> Option<Vec<String>> {
        let (mut rest, mut names) = (written.trim().strip_prefix('@')?, Vec::new());
        while !rest.is_empty() {
            let (name, after) = field(rest.strip_prefix('.')?)?;
            names.push(name);
            rest = after;
        }
        Some(names)
    };
    let compared = written.split_once("==").map(|parts| (parts, true));
    match compared.or_else(|| written.split_once("!=").map(|parts| (parts, false))) {
        Some(((left, right), equal)) => {
            let right = right.trim();
            let value = match quoted(right) {
                Some(text) => text.into(),
                None => serde_json::from_str(right).ok()?,
            };
            Some(PathStep::Where(path(left)?, equal, value))
        }
        None => Some(PathStep::Has(path(written)?)),
    }
}

fn quoted(written: &str) -> Option<&str> {
    let within = |quote| written.strip_prefix(quote)?.strip_suffix(quote);
    within('\'').or_else(|| within('"'))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn columns_paths_lead_to_their_values() {
        let object = json!({
            "spec": {"items": [{"name": "a"}, {"name": "b"}, {"name": "c"}]},
            "metadata": {"labels": {"app.x/y": "lab"}},
            "status": {"conditions": [{"type": "Ready", "status": "True"}, {"type": "Old", "status": "False"}]},
        });
        let found = |path: &str| serde_json::to_string(&JsonPath::of(path).unwrap().find(&object)).unwrap();
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
        for wrong in [".a[", ".a[x]", ".a[?(@.b==)]", "..", ".a..b"] {
            assert_eq!(JsonPath::of(wrong), None, "{wrong}");
        }
    }
}
