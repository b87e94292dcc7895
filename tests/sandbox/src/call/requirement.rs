//! Evaluates one requirement of a label selector.

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Requirement {
    pub(super) key: String,
    pub(super) operator: Operator,
    pub(super) values: Vec<String>,
}

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
    pub(super) fn holds(&self, label: Option<&str>) -> bool {
        let among = |label: &str| self.values.iter().any(|value| value == label);
        let number = |text: &str| text.parse::<i64>().ok();
        let compared = |label: &str| Some(number(label)?.cmp(&number(self.values.first()?)?));
        match self.operator {
            Operator::In => label.is_some_and(among),
            Operator::NotIn => !label.is_some_and(among),
            Operator::Exists => label.is_some(),
            Operator::Absent => label.is_none(),
            Operator::Greater => label.and_then(compared).is_some_and(std::cmp::Ordering::is_gt),
            Operator::Less => label.and_then(compared).is_some_and(std::cmp::Ordering::is_lt),
        }
    }
}
