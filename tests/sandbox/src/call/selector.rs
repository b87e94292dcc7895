//! Label and field selectors.

use crate::failure::Failure;

/// What labels must be like; all requirements hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LabelSelector(Vec<Requirement>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Requirement {
    key: String,
    relation: Relation,
    values: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    In,
    NotIn,
    Exists,
    Absent,
    Greater,
    Less,
}

impl LabelSelector {
    /// Reads `a=b,c!=d,e in (f,g),!h,i`.
    pub(crate) fn of(written: &str) -> Result<Self, Failure> {
        let parts = split_outside_brackets(written);
        parts.iter().map(|part| Requirement::of(part.trim())).collect::<Option<_>>().map(Self).ok_or_else(|| {
            Failure::bad_request(format!("unable to parse requirement: {written:?} is no label selector"))
        })
    }

    /// From a selector object (`matchLabels`, `matchExpressions`); an empty one selects everything.
    pub(crate) fn of_object(selector: &serde_json::Value) -> Self {
        let word = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        let labels = selector["matchLabels"].as_object().into_iter().flatten();
        let labels = labels.map(|(key, value)| Requirement {
            key: key.clone(),
            relation: Relation::In,
            values: vec![word(value)],
        });
        let expressions = selector["matchExpressions"].as_array().into_iter().flatten();
        let expressions = expressions.map(|expression| Requirement {
            key: word(&expression["key"]),
            relation: match expression["operator"].as_str() {
                Some("NotIn") => Relation::NotIn,
                Some("Exists") => Relation::Exists,
                Some("DoesNotExist") => Relation::Absent,
                _ => Relation::In,
            },
            values: expression["values"].as_array().into_iter().flatten().map(word).collect(),
        });
        Self(labels.chain(expressions).collect())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn matches<'a>(&self, label: impl Fn(&str) -> Option<&'a str>) -> bool {
        self.0.iter().all(|requirement| requirement.holds(label(&requirement.key)))
    }
}

impl Requirement {
    fn of(written: &str) -> Option<Self> {
        let new = |key: &str, relation, values: Vec<&str>| {
            let values = values.into_iter().map(|value| value.trim().to_owned()).collect();
            let key = key.trim();
            is_word(key).then(|| Self { key: key.to_owned(), relation, values })
        };
        if let Some((key, list)) = set(written, " notin ").or_else(|| set(written, " notin(")) {
            return new(key, Relation::NotIn, list);
        }
        if let Some((key, list)) = set(written, " in ").or_else(|| set(written, " in(")) {
            return new(key, Relation::In, list);
        }
        if let Some((key, value)) = written.split_once("!=") {
            return new(key, Relation::NotIn, vec![value]);
        }
        if let Some((key, value)) = written.split_once("==").or_else(|| written.split_once('=')) {
            return new(key, Relation::In, vec![value]);
        }
        if let Some((key, value)) = written.split_once('>') {
            return new(key, Relation::Greater, vec![value]);
        }
        if let Some((key, value)) = written.split_once('<') {
            return new(key, Relation::Less, vec![value]);
        }
        match written.strip_prefix('!') {
            Some(key) => new(key, Relation::Absent, Vec::new()),
            None => new(written, Relation::Exists, Vec::new()),
        }
    }

    fn holds(&self, label: Option<&str>) -> bool {
        let among = |label: &str| self.values.iter().any(|value| value == label);
        let number = |text: &str| text.parse::<i64>().ok();
        let compared = |label: &str| Some(number(label)?.cmp(&number(self.values.first()?)?));
        match self.relation {
            Relation::In => label.is_some_and(among),
            Relation::NotIn => !label.is_some_and(among),
            Relation::Exists => label.is_some(),
            Relation::Absent => label.is_none(),
            Relation::Greater => label.and_then(compared).is_some_and(std::cmp::Ordering::is_gt),
            Relation::Less => label.and_then(compared).is_some_and(std::cmp::Ordering::is_lt),
        }
    }
}

/// `KEY in (A,B)`: the key and what is in the brackets.
fn set<'a>(written: &'a str, relation: &str) -> Option<(&'a str, Vec<&'a str>)> {
    let (key, list) = written.split_once(relation)?;
    let list = list.trim().trim_start_matches('(').strip_suffix(')')?;
    Some((key, list.split(',').collect()))
}

fn is_word(key: &str) -> bool {
    !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || "-_./".contains(c))
}

fn split_outside_brackets(written: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, letter) in written.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&written[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&written[start..]);
    parts.retain(|part| !part.trim().is_empty());
    parts
}

/// What fields must be like; all requirements hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FieldSelector(pub(crate) Vec<FieldRequirement>);

/// `field=value`, or `field!=value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FieldRequirement {
    /// `metadata.name`
    pub(crate) field: String,
    pub(crate) value: String,
    pub(crate) equal: bool,
}

impl FieldSelector {
    /// Reads `metadata.name=a,status.phase!=Running`.
    pub(crate) fn of(written: &str) -> Result<Self, Failure> {
        let parts = written.split(',').filter(|part| !part.trim().is_empty());
        parts
            .map(FieldRequirement::of)
            .collect::<Result<_, _>>()
            .map(Self)
            .map_err(|part| Failure::bad_request(format!("invalid selector: '{written}'; can't understand '{part}'")))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn matches(&self, field: impl Fn(&str) -> String) -> bool {
        self.0.iter().all(|requirement| (field(&requirement.field) == requirement.value) == requirement.equal)
    }
}

impl FieldRequirement {
    /// What can't be understood comes back.
    fn of(part: &str) -> Result<Self, &str> {
        let unequal = part.split_once("!=").map(|(field, value)| (field, value, false));
        let equal =
            || part.split_once("==").or_else(|| part.split_once('=')).map(|(field, value)| (field, value, true));
        let (field, value, equal) = unequal.or_else(equal).ok_or(part)?;
        Ok(Self { field: field.trim().to_owned(), value: value.trim().to_owned(), equal })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests {
    use super::*;

    fn selects(selector: &str, labels: &[(&str, &str)]) -> bool {
        let selector = LabelSelector::of(selector).unwrap();
        selector.matches(|key| labels.iter().find(|(own, _)| *own == key).map(|(_, value)| *value))
    }

    #[test]
    fn labels_are_selected() {
        let labels = [("app", "web"), ("tier", "1")];
        for selector in
            ["", "app=web", "app==web,tier", "app in (db, web)", "tier notin (2)", "!gone", "gone!=x", "tier>0"]
        {
            assert!(selects(selector, &labels), "{selector}");
        }
        for selector in ["app=db", "app!=web", "app notin (web,db)", "!app", "gone", "tier<1", "gone in (x)"] {
            assert!(!selects(selector, &labels), "{selector}");
        }
        assert!(LabelSelector::of("a b c").is_err());
    }
}
