//! `ValidationRule`: one rule between the fields of a type.

/// One rule between the fields of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ValidationRule {
    /// The rule without its message.
    pub kind: RuleKind,
    /// The text for users. `None` stands for [`RuleKind::default_message`].
    pub message: Option<&'static str>,
}

impl ValidationRule {
    /// Returns a rule. The derive calls it.
    #[doc(hidden)]
    pub const fn new(kind: RuleKind, message: Option<&'static str>) -> Self {
        Self { kind, message }
    }

    /// Returns the text for users.
    pub fn message(&self) -> String {
        self.message.map_or_else(|| self.kind.default_message(), str::to_owned)
    }
}

/// The kinds of rules. The names of fields are those in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RuleKind {
    /// An edit can't set, change or remove the field.
    Immutable(&'static str),
    /// Once the field is set, an edit can't change or remove it.
    SetOnce(&'static str),
    /// The field is set if the condition holds.
    RequiredIf(&'static str, FieldCondition),
    /// The field is not set if the condition holds.
    ForbiddenIf(&'static str, FieldCondition),
    /// The first field is not greater than the second one.
    AtMost(&'static str, &'static str),
    /// The first field is less than the second one.
    LessThan(&'static str, &'static str),
    /// No two items of the list are equal.
    Unique(&'static str),
    /// No two items of the list, the first field, have an equal value of the second field.
    UniqueBy(&'static str, &'static str),
    /// Exactly one of the fields is set.
    OneOf(&'static [&'static str]),
    /// At most one of the fields is set.
    AtMostOneOf(&'static [&'static str]),
    /// At least one of the fields is set.
    AtLeastOneOf(&'static [&'static str]),
}

impl RuleKind {
    /// Returns the name of the rule's attribute.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Immutable(_) => "immutable",
            Self::SetOnce(_) => "set_once",
            Self::RequiredIf(..) => "required_if",
            Self::ForbiddenIf(..) => "forbidden_if",
            Self::AtMost(..) => "at_most",
            Self::LessThan(..) => "less_than",
            Self::Unique(_) | Self::UniqueBy(..) => "unique",
            Self::OneOf(_) => "one_of",
            Self::AtMostOneOf(_) => "at_most_one_of",
            Self::AtLeastOneOf(_) => "at_least_one_of",
        }
    }

    /// Returns the field that a violation of the rule is reported at; `None` if it is reported at the whole object.
    pub fn field(&self) -> Option<&'static str> {
        match *self {
            Self::Immutable(field)
            | Self::SetOnce(field)
            | Self::RequiredIf(field, _)
            | Self::ForbiddenIf(field, _)
            | Self::AtMost(field, _)
            | Self::LessThan(field, _)
            | Self::Unique(field)
            | Self::UniqueBy(field, _) => Some(field),
            Self::OneOf(_) | Self::AtMostOneOf(_) | Self::AtLeastOneOf(_) => None,
        }
    }

    /// Returns all fields of the type that the rule reads.
    pub fn fields(&self) -> Vec<&'static str> {
        match *self {
            Self::Immutable(field) | Self::SetOnce(field) | Self::Unique(field) | Self::UniqueBy(field, _) => {
                vec![field]
            }
            Self::RequiredIf(field, condition) | Self::ForbiddenIf(field, condition) => vec![field, condition.field],
            Self::AtMost(field, other) | Self::LessThan(field, other) => vec![field, other],
            Self::OneOf(fields) | Self::AtMostOneOf(fields) | Self::AtLeastOneOf(fields) => fields.to_vec(),
        }
    }

    /// Returns whether the rule compares a field with its value before an edit, so that it is not checked for a new object.
    pub fn is_transition(&self) -> bool {
        matches!(self, Self::Immutable(_) | Self::SetOnce(_))
    }

    /// Returns the message for users of a rule that declares no message.
    pub fn default_message(&self) -> String {
        match self {
            Self::Immutable(field) => format!("{field} is immutable"),
            Self::SetOnce(field) => format!("{field} can't be changed once it is set"),
            Self::RequiredIf(field, condition) => format!("{field} is required if {condition}"),
            Self::ForbiddenIf(field, condition) => format!("{field} is not allowed if {condition}"),
            Self::AtMost(field, other) => format!("{field} must be at most {other}"),
            Self::LessThan(field, other) => format!("{field} must be less than {other}"),
            Self::Unique(field) => format!("the items of {field} must be unique"),
            Self::UniqueBy(field, key) => format!("the items of {field} must have a unique {key}"),
            Self::OneOf(fields) => format!("exactly one of {} is required", fields.join(", ")),
            Self::AtMostOneOf(fields) => format!("at most one of {} is allowed", fields.join(", ")),
            Self::AtLeastOneOf(fields) => format!("at least one of {} is required", fields.join(", ")),
        }
    }

    /// Returns the reason of the API server's error, as in `reason` of `x-kubernetes-validations`.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::RequiredIf(..) => "FieldValueRequired",
            Self::ForbiddenIf(..) | Self::AtMostOneOf(_) => "FieldValueForbidden",
            // Not `FieldValueDuplicate` for `unique`: the API server drops the message of such an error.
            _ => "FieldValueInvalid",
        }
    }
}

/// The condition of `required_if` and `forbidden_if`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FieldCondition {
    /// The field that is looked at.
    pub field: &'static str,
    /// The value that the field has. `None`: the field is set, and if it is a boolean, it is `true`.
    pub value: Option<FieldValue>,
}

impl FieldCondition {
    /// Returns a condition. The derive calls it.
    #[doc(hidden)]
    pub const fn new(field: &'static str, value: Option<FieldValue>) -> Self {
        Self { field, value }
    }
}

impl std::fmt::Display for FieldCondition {
    /// Writes the condition for messages to users: `mode is Public` or `tls is set`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.value {
            Some(value) => write!(f, "{} is {value}", self.field),
            None => write!(f, "{} is set", self.field),
        }
    }
}

/// A value to which a field is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldValue {
    /// A string, or the name of an enum variant in JSON.
    Text(&'static str),
    /// An integer.
    Integer(i64),
    /// A boolean.
    Bool(bool),
}

impl std::fmt::Display for FieldValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Integer(number) => write!(f, "{number}"),
            Self::Bool(value) => write!(f, "{value}"),
        }
    }
}
