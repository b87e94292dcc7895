//! Writes the rules as CEL expressions over a whole object, for admission policies.

use super::{
    cel::{Problem, RuleProblem, Variables, has, is_always_set, select},
    rule::ValidationRule,
    rules::Validation,
};
use serde_json::Value;

/// The depth below which the rules of a type are not looked for, since a type may contain itself.
const MAX_DEPTH: usize = 16;

/// A rule as an expression over the variables `object` and `oldObject` of an admission policy.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RuleExpression {
    /// The expression, which is true if the rule holds. It is also true for a deletion, where the object has no part with the rule, and
    /// where an edit does not change that part.
    pub expression: String,
    /// The path of the field, for example `spec.backup.bucket`, and the text for users.
    pub message: String,
}

/// A part of an object, such as a nested struct with rules, and the CEL expressions to reach it.
#[derive(Clone)]
struct ObjectPart {
    /// The path in the object, for messages.
    path: String,
    /// The part after the write.
    new: String,
    /// The part that an edit must change for a rule to be checked, after and before the write: this part, or the outermost list or map
    /// around it, since an item has no known state before the write.
    compared: (String, String),
    /// The conditions under which the compared part existed before the write.
    existed: Vec<String>,
    /// The conditions under which the compared part does not exist after the write.
    absent: Vec<String>,
    /// The lists and maps around the part, from the outermost.
    lists: Vec<EnclosingList>,
}

/// A list or map around a part.
#[derive(Clone)]
struct EnclosingList {
    /// The CEL expression of the list or map.
    list: String,
    /// The CEL variable for an item of the list, or for a key of the map.
    variable: String,
    /// The conditions under which an item has no such part.
    absent: Vec<String>,
}

impl RuleExpression {
    #[doc(hidden)]
    pub fn new(expression: impl Into<String>, message: impl Into<String>) -> Self {
        Self { expression: expression.into(), message: message.into() }
    }
}

impl Validation {
    /// Returns the rules as expressions over an object whose part at `path`, for example `spec`, has this schema. An empty path is the
    /// object itself.
    ///
    /// # Errors
    /// The rules that have no meaning there.
    pub fn to_expressions(&self, schema: &Value, path: &str) -> Result<Vec<RuleExpression>, Vec<RuleProblem>> {
        let mut part = ObjectPart::root();
        for name in path.split('.').filter(|name| !name.is_empty()) {
            part = part.field(name, false);
        }
        let mut results = Vec::new();
        self.collect_expressions(schema, &part, &mut results, 0);
        let (mut expressions, mut problems) = (Vec::new(), Vec::new());
        for result in results {
            match result {
                Ok(expression) => expressions.push(expression),
                Err(problem) => problems.push(problem),
            }
        }
        if problems.is_empty() { Ok(expressions) } else { Err(problems) }
    }

    /// Adds the expressions of the rules of this type and of its nested types, or the problems of rules that do not fit the schema. `part`
    /// is the part of the object that has this type, and `depth` the number of types around it.
    fn collect_expressions(
        &self,
        schema: &Value,
        part: &ObjectPart,
        results: &mut Vec<Result<RuleExpression, RuleProblem>>,
        depth: usize,
    ) {
        if depth > MAX_DEPTH {
            return;
        }
        results.extend(self.rules.iter().map(|rule| {
            let problem =
                |(problem, fix): Problem| RuleProblem { path: part.path.clone(), problem, fix: fix.to_owned() };
            part.expression(*rule, schema).map_err(problem)
        }));
        for validation in &self.flattened {
            validation().collect_expressions(schema, part, results, depth + 1);
        }
        for field in &self.fields {
            let Some(nested) = schema["properties"].get(field.name) else { continue };
            let part = part.field(field.name, is_always_set(schema, field.name));
            (field.validation)().collect_expressions(nested, &part, results, depth + 1);
        }
        let items = ["items", "additionalProperties"].into_iter().find(|keyword| schema[keyword].is_object());
        if let (Some(validation), Some(keyword)) = (self.items, items) {
            let part = part.items(keyword == "items");
            validation().collect_expressions(&schema[keyword], &part, results, depth + 1);
        }
    }
}

impl ObjectPart {
    /// Returns the part that is the whole object, with the variables `object` and `oldObject` of an admission policy.
    fn root() -> Self {
        Self {
            path: String::new(),
            new: "object".to_owned(),
            compared: ("object".to_owned(), "oldObject".to_owned()),
            existed: vec!["oldObject != null".to_owned()],
            absent: vec!["object == null".to_owned()],
            lists: Vec::new(),
        }
    }

    /// Returns the part that is the field `name` of this part, with the conditions under which it is absent or existed before the write.
    fn field(&self, name: &str, is_always_set: bool) -> Self {
        let mut part = self.clone();
        part.path = field_path(&self.path, name);
        part.new = select(&self.new, name);
        // Within a list, the field may be absent in each item.
        let absent = part.lists.last_mut().map_or(&mut part.absent, |list| &mut list.absent);
        if !is_always_set {
            absent.push(format!("!{}", has(&self.new, name)));
        }
        // Within a list, the compared part remains the outermost list.
        if part.lists.is_empty() {
            part.existed.push(has(&self.compared.1, name));
            part.compared = (part.new.clone(), select(&self.compared.1, name));
        }
        part
    }

    /// Returns the part that is each item of this list, or each value of this map.
    fn items(&self, is_list: bool) -> Self {
        let mut part = self.clone();
        let variable = format!("item{}", self.lists.len());
        part.path = format!("{}{}", self.path, if is_list { "[*]" } else { ".*" });
        // The variable of CEL's `all` is an item of a list, or a key of a map.
        part.new = if is_list { variable.clone() } else { format!("{}[{variable}]", self.new) };
        part.lists.push(EnclosingList { list: self.new.clone(), variable, absent: Vec::new() });
        part
    }

    /// Returns the CEL expression of a rule for this part, which has this schema. It is true if the part is absent, if the part is new and
    /// the rule is about a change, or if the part is unchanged and the rule is about another matter.
    ///
    /// # Errors
    /// The problem of the rule here, and its fix.
    fn expression(&self, rule: ValidationRule, schema: &Value) -> Result<RuleExpression, Problem> {
        let is_transition = rule.kind.is_transition();
        if is_transition && !self.lists.is_empty() {
            let problem =
                format!("`{}` is about a change, but items of a list have no old value here", rule.kind.name());
            return Err((problem, "use it outside of lists and maps"));
        }
        let (new, old) = &self.compared;
        let mut text = rule.kind.to_cel(schema, Variables { new: &self.new, old })?;
        for EnclosingList { list, variable, absent } in self.lists.iter().rev() {
            text = format!("{list}.all({variable}, {})", any(absent.iter().cloned(), &text));
        }
        let existed = self.existed.join(" && ");
        // A rule about a change is not checked for a new part, and other rules are not checked for a part that the edit does not change.
        let irrelevant = if is_transition { format!("!({existed})") } else { format!("({existed} && {new} == {old})") };
        let path = rule.kind.field().map_or_else(|| self.path.clone(), |field| field_path(&self.path, field));
        Ok(RuleExpression {
            expression: any(self.absent.iter().cloned().chain([irrelevant]), &text),
            message: format!("{path}: {}", rule.message()),
        })
    }
}

/// Joins the conditions and the last expression, in parentheses, with `||`.
fn any(conditions: impl IntoIterator<Item = String>, last: &str) -> String {
    conditions.into_iter().chain([format!("({last})")]).collect::<Vec<_>>().join(" || ")
}

fn field_path(path: &str, field: &str) -> String {
    if path.is_empty() { field.to_owned() } else { format!("{path}.{field}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validation::{FieldCondition, FieldValue, RuleKind};
    use serde_json::json;

    const SPEC: &[ValidationRule] = &[
        ValidationRule::new(RuleKind::Immutable("class"), None),
        ValidationRule::new(
            RuleKind::RequiredIf("host", FieldCondition::new("type", Some(FieldValue::Text("Public")))),
            Some("set a host"),
        ),
    ];
    const PORT: &[ValidationRule] = &[ValidationRule::new(RuleKind::AtMost("from", "to"), None)];

    fn port() -> Validation {
        Validation::of_type(PORT)
    }

    fn ports() -> Validation {
        Validation::of_items(port)
    }

    /// Returns the schema of a spec with the fields of `SPEC`, and a list `ports` whose items have the fields of `PORT`.
    fn schema() -> Value {
        let number = json!({"type": "integer"});
        let port = json!({"type": "object", "required": ["from", "to"], "properties": {"from": number, "to": number}});
        json!({"type": "object", "required": ["type"], "properties": {
            "class": {"type": "string"}, "type": {"type": "string"}, "host": {"type": "string"},
            "ports": {"type": "array", "items": port},
        }})
    }

    #[test]
    fn each_rule_becomes_an_expression_that_is_true_where_the_rule_does_not_apply() {
        let validation = Validation::of_type(SPEC).with_field("ports", &[], Some(ports));
        let expressions = validation.to_expressions(&schema(), "spec").unwrap();
        let texts: Vec<_> = expressions.iter().map(|rule| rule.expression.as_str()).collect();
        assert_eq!(
            texts,
            [
                "object == null || !has(object.spec) || !(oldObject != null && has(oldObject.spec)) || \
                 (has(object.spec.class) == has(oldObject.spec.class) && \
                 (!has(object.spec.class) || object.spec.class == oldObject.spec.class))",
                "object == null || !has(object.spec) || (oldObject != null && has(oldObject.spec) && \
                 object.spec == oldObject.spec) || (!(object.spec.type == 'Public') || has(object.spec.host))",
                "object == null || !has(object.spec) || !has(object.spec.ports) || \
                 (oldObject != null && has(oldObject.spec) && has(oldObject.spec.ports) && \
                 object.spec.ports == oldObject.spec.ports) || \
                 (object.spec.ports.all(item0, (item0.from <= item0.to)))",
            ]
        );
        let messages: Vec<_> = expressions.iter().map(|rule| rule.message.as_str()).collect();
        assert_eq!(
            messages,
            ["spec.class: class is immutable", "spec.host: set a host", "spec.ports[*].from: from must be at most to"]
        );
    }

    #[test]
    fn a_change_of_an_item_and_an_unknown_field_are_problems() {
        const ITEM: &[ValidationRule] = &[ValidationRule::new(RuleKind::Immutable("from"), None)];
        fn item() -> Validation {
            Validation::of_type(ITEM)
        }
        fn items() -> Validation {
            Validation::of_items(item)
        }
        let validation = Validation::of_type(&[]).with_field("ports", &[], Some(items));
        let problems = validation.to_expressions(&schema(), "spec").unwrap_err();
        assert_eq!((problems.len(), problems[0].path.as_str()), (1, "spec.ports[*]"));
        let problems = Validation::of_type(PORT).to_expressions(&schema(), "spec").unwrap_err();
        assert!(problems[0].problem.contains("the field `from`, which the schema doesn't have"), "{problems:?}");
    }
}
