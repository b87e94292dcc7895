//! Writes the rules as CEL into the schema of a definition.

use super::{
    rule::{FieldCondition, FieldValue, RuleKind, ValidationRule},
    rules::{NestedField, Validation},
};
use serde_json::{Map, Value, json};

/// The words that CEL reserves; a field of such a name is written `__name__`. Source: "Validation rules" in the documentation of
/// CustomResourceDefinitions.
const RESERVED: [&str; 21] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "false",
    "for",
    "function",
    "if",
    "import",
    "in",
    "let",
    "loop",
    "namespace",
    "null",
    "package",
    "return",
    "true",
    "var",
    "void",
    "while",
];

/// The depth of nested types to which a rule about a change is looked for, since a type may contain itself.
const MAX_DEPTH: u8 = 16;

/// A rule that has no meaning in a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RuleProblem {
    /// The path of the schema, for example `.spec.pools[*]`.
    pub path: String,
    /// The problem.
    pub problem: String,
    /// The change that solves it.
    pub fix: String,
}

impl RuleProblem {
    #[doc(hidden)]
    pub fn new(path: impl Into<String>, problem: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { path: path.into(), problem: problem.into(), fix: fix.into() }
    }
}

impl Validation {
    /// Adds the rules as `x-kubernetes-validations` to the schema of the type, and those of nested types to their schemas. Returns
    /// the rules that have no meaning there; these are not added. `path` is the path of the schema in an object.
    pub fn add_to_schema(&self, schema: &mut Value, path: &str) -> Vec<RuleProblem> {
        let mut problems = Vec::new();
        self.add_at(schema, path, &mut problems);
        problems
    }

    /// Adds the rules like [`Validation::add_to_schema`], and adds a problem for each rule that does not fit the schema to `problems`.
    fn add_at(&self, schema: &mut Value, path: &str, problems: &mut Vec<RuleProblem>) {
        for rule in self.rules {
            match rule.to_json(schema) {
                Ok(rule) => add_rule(schema, rule),
                Err((problem, fix)) => {
                    problems.push(RuleProblem { path: path.to_owned(), problem, fix: fix.to_owned() })
                }
            }
        }
        for validation in &self.flattened {
            validation().add_at(schema, path, problems);
        }
        for field in &self.fields {
            // A schema from a hand-written function may lack the field; then there is nothing to add the rules to.
            let Some(schema) = schema.get_mut("properties").and_then(|properties| properties.get_mut(field.name))
            else {
                continue;
            };
            let (path, validation) = (format!("{path}.{}", field.name), (field.validation)());
            problems.extend(field.check_list_keys(schema, &validation, &path));
            validation.add_at(schema, &path, problems);
        }
        if let Some(validation) = self.items {
            let (keyword, suffix) =
                if schema["items"].is_object() { ("items", "[*]") } else { ("additionalProperties", ".*") };
            if let Some(schema) = schema.get_mut(keyword).filter(|schema| schema.is_object()) {
                validation().add_at(schema, &format!("{path}{suffix}"), problems);
            }
        }
    }

    /// Returns whether the type of the items, or a type nested in it, has a transition rule: a rule that compares a field with its value
    /// before an edit.
    fn has_item_transitions(&self) -> bool {
        fn has_transition(validation: &Validation, depth: u8) -> bool {
            let fields = validation.fields.iter().map(|field| field.validation);
            let nested = fields.chain(validation.flattened.iter().copied()).chain(validation.items);
            validation.rules.iter().any(|rule| rule.kind.is_transition())
                || depth > 0 && nested.into_iter().any(|validation| has_transition(&validation(), depth - 1))
        }
        self.items.is_some_and(|items| has_transition(&items(), MAX_DEPTH))
    }
}

impl NestedField {
    /// Returns a problem if the list map keys in the schema of the field are not those of the Rust attributes, and its items have a
    /// transition rule. Then [`Validation::check`], which knows only the attributes, would not find the old value of an item.
    fn check_list_keys(&self, schema: &Value, validation: &Validation, path: &str) -> Option<RuleProblem> {
        let keys = || schema["x-kubernetes-list-map-keys"].as_array().into_iter().flatten();
        if keys().eq(self.list_keys) || !validation.has_item_transitions() {
            return None;
        }
        let keys: Vec<_> = keys().filter_map(Value::as_str).map(|key| format!("{key:?}")).collect();
        Some(RuleProblem {
            path: path.to_owned(),
            problem: "the items have a rule about a change, but the keys of the list are not known at its field"
                .to_owned(),
            fix: format!(
                "write `#[schemars(extend(\"x-kubernetes-list-type\" = \"map\", \"x-kubernetes-list-map-keys\" = [{}]))]` at the field",
                if keys.is_empty() { "\"name\"".to_owned() } else { keys.join(", ") },
            ),
        })
    }
}

/// Adds a rule to the `x-kubernetes-validations` of a schema, unless they contain an equal rule.
fn add_rule(schema: &mut Value, rule: Value) {
    let Some(schema) = schema.as_object_mut() else { return };
    let rules = schema.entry("x-kubernetes-validations").or_insert_with(|| json!([]));
    if let Some(rules) = rules.as_array_mut().filter(|rules| !rules.contains(&rule)) {
        rules.push(rule);
    }
}

/// The problem of a rule, and its fix.
pub(super) type Problem = (String, &'static str);

/// The expressions of an object after and before an edit.
#[derive(Clone, Copy)]
pub(super) struct Variables<'a> {
    pub(super) new: &'a str,
    pub(super) old: &'a str,
}

impl Variables<'static> {
    /// The variables of `x-kubernetes-validations`.
    const OF_SCHEMA: Self = Self { new: "self", old: "oldSelf" };
}

impl ValidationRule {
    /// Returns the rule as an item of `x-kubernetes-validations`, without the reason if it is the default, `FieldValueInvalid`.
    ///
    /// # Errors
    /// The problem of the rule in this schema, and its fix.
    fn to_json(self, schema: &Value) -> Result<Value, Problem> {
        let mut rule = Map::from_iter([
            ("rule".to_owned(), self.kind.to_cel(schema, Variables::OF_SCHEMA)?.into()),
            ("message".to_owned(), self.message().into()),
        ]);
        if self.kind.reason() != "FieldValueInvalid" {
            rule.insert("reason".to_owned(), self.kind.reason().into());
        }
        if let Some(field) = self.kind.field() {
            rule.insert("fieldPath".to_owned(), field_path(field).into());
        }
        Ok(Value::Object(rule))
    }
}

impl RuleKind {
    /// Returns the CEL expression of the rule for an object with this schema. `variables` has the CEL expressions of the object and of its
    /// old value. Fails if the schema lacks a field of the rule, or if the rule makes no sense for the schema of a field.
    pub(super) fn to_cel(self, schema: &Value, variables: Variables<'_>) -> Result<String, Problem> {
        for field in self.fields() {
            if schema["properties"][field].is_null() {
                let problem = format!("`{}` is about the field `{field}`, which the schema doesn't have", self.name());
                return Err((problem, "write the rule in a type whose schema is derived"));
            }
        }
        let check_optional = |field| self.check_optional(schema, field);
        let Variables { new: object, old: old_object } = variables;
        let is_set = |field| has(object, field);
        match self {
            Self::Immutable(field) => Ok(immutable(variables, field, is_always_set(schema, field))),
            Self::SetOnce(field) => {
                check_optional(field)?;
                let (new, old) = (select(object, field), select(old_object, field));
                Ok(format!("!{} || ({} && {new} == {old})", has(old_object, field), is_set(field)))
            }
            Self::RequiredIf(field, condition) => {
                check_optional(field)?;
                Ok(format!("!({}) || {}", condition.to_cel(schema, object)?, is_set(field)))
            }
            Self::ForbiddenIf(field, condition) => {
                check_optional(field)?;
                Ok(format!("!({}) || !{}", condition.to_cel(schema, object)?, is_set(field)))
            }
            Self::AtMost(field, other) => self.comparison(schema, object, (field, "<=", other)),
            Self::LessThan(field, other) => self.comparison(schema, object, (field, "<", other)),
            Self::Unique(field) => self.unique(schema, object, (field, None)),
            Self::UniqueBy(field, key) => self.unique(schema, object, (field, Some(key))),
            Self::OneOf(fields) | Self::AtMostOneOf(fields) | Self::AtLeastOneOf(fields) => {
                fields.iter().try_for_each(|field| check_optional(field))?;
                // The sum of the terms is the number of fields that are set.
                let terms: Vec<_> = fields.iter().map(|field| format!("({} ? 1 : 0)", is_set(field))).collect();
                let operator = match self {
                    Self::OneOf(_) => "==",
                    Self::AtMostOneOf(_) => "<=",
                    _ => ">=",
                };
                Ok(format!("{} {operator} 1", terms.join(" + ")))
            }
        }
    }

    /// Fails for a field that is always set. The rule depends on whether the field is set, so it would be pointless.
    fn check_optional(self, schema: &Value, field: &str) -> Result<(), Problem> {
        if !is_always_set(schema, field) {
            return Ok(());
        }
        let problem =
            format!("`{}` asks whether `{field}` is set, but the field is required or has a default", self.name());
        Err((problem, "make it an `Option` without a default"))
    }

    /// Returns the CEL expression that compares two number fields of `object`. It is true if one of the fields is not set. Fails if a field
    /// is no number by the schema.
    fn comparison(
        self,
        schema: &Value,
        object: &str,
        (field, operator, other): (&str, &str, &str),
    ) -> Result<String, Problem> {
        for field in [field, other] {
            if !["integer", "number"].contains(&schema["properties"][field]["type"].as_str().unwrap_or_default()) {
                let problem = format!("`{}` compares numbers, but `{field}` is none", self.name());
                return Err((problem, "use it for integers and floating point numbers"));
            }
        }
        let mut terms: Vec<_> = [field, other]
            .into_iter()
            .filter(|field| !is_always_set(schema, field))
            .map(|field| format!("!{}", has(object, field)))
            .collect();
        terms.push(format!("{} {operator} {}", select(object, field), select(object, other)));
        Ok(terms.join(" || "))
    }

    /// Returns the CEL expression for: no two items of the list `field` are equal, or with a `key`, no two items have an equal field `key`.
    /// Fails if `field` is no list, or if its items may lack the key.
    fn unique(self, schema: &Value, object: &str, (field, key): (&str, Option<&str>)) -> Result<String, Problem> {
        let list = &schema["properties"][field];
        if list["type"] != "array" {
            return Err((format!("`unique` is about the items of a list, but `{field}` is none"), "use it on a `Vec`"));
        }
        if let Some(key) = key.filter(|key| list["items"]["properties"][key].is_null()) {
            let problem = format!("`unique` compares the field `{key}` of the items, which their schema doesn't have");
            return Err((problem, "write the name as it is in JSON"));
        }
        if let Some(key) = key.filter(|key| !is_always_set(&list["items"], key)) {
            let problem = format!("`unique` compares the field `{key}` of the items, which may be missing");
            return Err((problem, "use a field that is required or has a default"));
        }
        let value = |item: &str| key.map_or_else(|| item.to_owned(), |key| select(item, key));
        let items = select(object, field);
        // Exactly one item equals each item: the item itself.
        let rule = format!("{items}.all(x, {items}.exists_one(y, {} == {}))", value("x"), value("y"));
        Ok(if is_always_set(schema, field) { rule } else { format!("!{} || {rule}", has(object, field)) })
    }
}

impl FieldCondition {
    /// Returns the CEL expression for: the field has the value, or without a value, the field is set and, if it is a boolean, true. Fails
    /// if the field can't have the value by the schema.
    fn to_cel(self, schema: &Value, object: &str) -> Result<String, Problem> {
        let field_schema = &schema["properties"][self.field];
        let kind = field_schema["type"].as_str().unwrap_or_default();
        let value = select(object, self.field);
        let comparison = match self.value {
            None if kind != "boolean" => return Ok(has(object, self.field)),
            None | Some(FieldValue::Bool(true)) if kind == "boolean" => value,
            Some(FieldValue::Bool(false)) if kind == "boolean" => format!("!{value}"),
            Some(FieldValue::Text(text)) if kind == "string" => format!("{value} == {}", string(text)),
            Some(FieldValue::Integer(number)) if kind == "integer" => format!("{value} == {number}"),
            Some(FieldValue::Integer(number)) if kind == "number" => format!("{value} == {number}.0"),
            _ => {
                let problem = format!("`{}` never has the value `{self}` compares it to", self.field);
                return Err((problem, "compare it to a value of its type: a string, an integer or a boolean"));
            }
        };
        if let (Some(FieldValue::Text(text)), Some(values)) = (self.value, field_schema["enum"].as_array())
            && !values.iter().any(|value| value == text)
        {
            let known: Vec<_> = values.iter().map(ToString::to_string).collect();
            let problem = format!("`{}` never is \"{text}\": it is one of {}", self.field, known.join(", "));
            return Err((problem, "write the name as it is in JSON"));
        }
        let set = has(object, self.field);
        Ok(if is_always_set(schema, self.field) { comparison } else { format!("{set} && {comparison}") })
    }
}

/// Returns the CEL expression of `immutable`: the field has the same value in the new and the old object, or both objects lack it.
fn immutable(Variables { new, old }: Variables<'_>, field: &str, is_always_set: bool) -> String {
    let is_equal = format!("{} == {}", select(new, field), select(old, field));
    if is_always_set {
        return is_equal;
    }
    let set = has(new, field);
    format!("{set} == {} && (!{set} || {is_equal})", has(old, field))
}

/// Returns whether an object with this schema always has the field: it is required, or has a default. A nullable field may be null, which
/// CEL treats as not set.
pub(super) fn is_always_set(schema: &Value, field: &str) -> bool {
    if schema["properties"][field]["nullable"] == true {
        return false;
    }
    let is_required = schema["required"].as_array().into_iter().flatten().any(|required| required == field);
    is_required || !schema["properties"][field]["default"].is_null()
}

pub(super) fn has(object: &str, field: &str) -> String {
    format!("has({})", select(object, field))
}

/// Returns the CEL expression `object.field`. Reserved words and characters that are invalid in an identifier are escaped in the way that
/// the API server expects.
pub(super) fn select(object: &str, field: &str) -> String {
    if RESERVED.contains(&field) {
        return format!("{object}.__{field}__");
    }
    let escaped = field
        .replace("__", "__underscores__")
        .replace('.', "__dot__")
        .replace('-', "__dash__")
        .replace('/', "__slash__");
    format!("{object}.{escaped}")
}

/// Returns the JSON path of a field for `fieldPath` of `x-kubernetes-validations`: `.name`, or `['name']` for other characters.
fn field_path(field: &str) -> String {
    let is_plain = field.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if is_plain { format!(".{field}") } else { format!("['{field}']") }
}

/// Returns a text as a string literal of CEL, in single quotes and with escapes.
fn string(text: &str) -> String {
    let mut literal = String::from("'");
    for c in text.chars() {
        match c {
            '\'' | '\\' => literal.extend(['\\', c]),
            '\n' => literal.push_str("\\n"),
            '\t' => literal.push_str("\\t"),
            '\r' => literal.push_str("\\r"),
            c => literal.push(c),
        }
    }
    literal.push('\'');
    literal
}
