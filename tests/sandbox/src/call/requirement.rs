//! Evaluates one requirement of a label selector.

/// One requirement of a label selector, on the label `key`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Requirement {
    pub(super) key: String,
    pub(super) operator: Operator,
    pub(super) values: Vec<String>,
}

/// The operator of a requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    In,
    NotIn,
    Exists,
    Absent,
    Greater,
    Less,
}

impl Requirement {
    /// Returns whether an object meets the requirement. `label` is the value of the object's label `key`; `None` if the object does not
    /// have the label, which satisfies `NotIn` and `Absent` only. `Greater` and `Less` compare integers, and match no other value.
    pub(super) fn matches(&self, label: Option<&str>) -> bool {
        let in_values = |label: &str| self.values.iter().any(|value| value == label);
        let parse_number = |text: &str| text.parse::<i64>().ok();
        let compare = |label: &str| Some(parse_number(label)?.cmp(&parse_number(self.values.first()?)?));
        match self.operator {
            Operator::In => label.is_some_and(in_values),
            Operator::NotIn => !label.is_some_and(in_values),
            Operator::Exists => label.is_some(),
            Operator::Absent => label.is_none(),
            Operator::Greater => label.and_then(compare).is_some_and(std::cmp::Ordering::is_gt),
            Operator::Less => label.and_then(compare).is_some_and(std::cmp::Ordering::is_lt),
        }
    }
}
