//! Tests the cost estimate of CEL rules against verdicts of a real API server.

#![allow(clippy::unwrap_used)]

use serde::Deserialize;
use serde_json::json;

use super::*;

/// The schema of a field, and whether a kube-apiserver 1.36.3 found its rules cheap enough.
#[derive(Deserialize)]
struct Case {
    case: String,
    accepted: bool,
    schema: Value,
}

fn warnings(field: &Value) -> Vec<String> {
    let root = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {"field": field}}}});
    let mut found = Findings::of("K v1");
    check(&root, &mut found);
    found.into_vec().iter().map(ToString::to_string).collect()
}

#[test]
fn a_rule_is_warned_about_where_the_api_server_finds_it_too_dear() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("verdicts.json")).unwrap();
    let mut wrong = Vec::new();
    for Case { case, accepted, schema } in cases {
        let found = warnings(&schema);
        if found.is_empty() != accepted {
            wrong.push(format!("{case}: the server says {accepted}, the estimate {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn severities(field: &Value) -> Vec<(Severity, String)> {
    let root = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {"field": field}}}});
    let mut found = Findings::of("K v1");
    check(&root, &mut found);
    found.into_vec().into_iter().map(|finding| (finding.severity, finding.problem)).collect()
}

/// Returns a list of texts and a map without bounds, with one rule.
fn ruled(rule: Value) -> Value {
    let text = json!({"type": "string", "maxLength": 100});
    json!({
        "type": "object",
        "properties": {
            "list": {"type": "array", "items": text}, "map": {"type": "object", "additionalProperties": text},
            "text": {"type": "string"},
        },
        "x-kubernetes-validations": [rule],
    })
}

#[test]
fn what_is_surely_too_dear_is_an_error() {
    let rule = "self.list.all(x, x.matches('^[a-z]+$'))";
    let found = severities(&ruled(json!({"rule": rule})));
    let [(Severity::Error, problem)] = found.as_slice() else { panic!("{found:?}") };
    assert!(problem.starts_with(&format!("the estimated cost of the rule `{rule}` exceeds ")), "{problem}");
    let message = format!("{rule} ? 'a' : 'b'");
    let found = severities(&ruled(json!({"rule": "self.list.size() > 1", "messageExpression": message})));
    let [(Severity::Error, problem)] = found.as_slice() else { panic!("{found:?}") };
    assert!(
        problem.starts_with(&format!("the estimated cost of the message expression `{message}` exceeds ")),
        "{problem}"
    );
}

#[test]
fn what_may_be_too_dear_is_a_warning() {
    for rule in
        ["self.text.split(',').all(x, x.size() < 3)", "self.list.all(x, x.lowerAscii().replace('a', 'b') != 'c')"]
    {
        let found = severities(&ruled(json!({"rule": rule})));
        let [(Severity::Warning, problem)] = found.as_slice() else { panic!("{rule}: {found:?}") };
        assert!(problem.starts_with(&format!("the estimated cost of the rule `{rule}` may exceed ")), "{problem}");
    }
}

/// As kube-apiserver 1.36.3 decides.
#[test]
fn a_text_of_unknown_length_may_be_given_and_not_be_read() {
    let message = |expression: &str| severities(&ruled(json!({"rule": "true", "messageExpression": expression})));
    for expression in [
        "'x' + string(self.list.size())",
        "'x' + string(1)",
        "'x' + '%d'.format([1])",
        "'x' + self.text.charAt(1)",
        "string(1).contains('abc') ? 'a' : 'b'",
        "true ? 'a' : ('x' + string(1))",
        "'x' + (self.list.size() > 3 ? string(1) : 'a')",
    ] {
        let found = message(expression);
        let [(Severity::Error, problem), (Severity::Error, _)] = found.as_slice() else {
            panic!("{expression}: {found:?}")
        };
        assert!(problem.ends_with("exceeds the limit of the API server by a factor of more than 100"), "{problem}");
    }
    for expression in
        ["string(1)", "'%d'.format([1])", "string(1) == 'x' ? 'a' : 'b'", "string(1).startsWith('abc') ? 'a' : 'b'"]
    {
        assert_eq!(message(expression), [], "{expression}");
    }
}

#[test]
fn a_key_of_a_map_is_looked_up_at_no_cost_of_the_map() {
    assert_eq!(severities(&ruled(json!({"rule": "self.list.all(x, x in self.map)"}))), []);
}

#[test]
fn a_warning_names_the_bounds_to_add() {
    let rule = json!([{"rule": "self.names.all(x, x.matches('^[a-z]+$'))"}]);
    let names = json!({"type": "array", "items": {"type": "string"}});
    let found = warnings(&json!({"type": "object", "properties": {"names": names}, "x-kubernetes-validations": rule}));
    let first = found.first().unwrap();
    assert!(
        first.starts_with(
            "K v1: .spec.field: the estimated cost of the rule `self.names.all(x, x.matches('^[a-z]+$'))` "
        ),
        "{first}"
    );
    assert!(first.contains("add `maxItems` to `.spec.field.names`, `maxLength` to `.spec.field.names[*]`;"), "{first}");
}

#[test]
fn lists_around_a_rule_are_named_too() {
    let rule = json!([{"rule": "self.contains('xyz')"}]);
    let found = warnings(
        &json!({"type": "array", "items": {"type": "string", "maxLength": 200, "x-kubernetes-validations": rule}}),
    );
    assert!(found[0].contains("add `maxItems` to `.spec.field`;"), "{found:?}");
}

#[test]
fn the_factor_is_near_the_api_servers() {
    // What the server says: 9.0, 4.4, 3.1, 8.8, 2.0.
    let text = json!({"type": "string", "maxLength": 100});
    let with = |property: Value, rule: &str| json!({"type": "object", "properties": {"a": property}, "x-kubernetes-validations": [{"rule": rule}]});
    let list = |item: &Value| json!({"type": "array", "items": item});
    let cases = [
        (with(list(&text), "self.a.all(x, x.matches('^[a-z]+$'))"), 9.0),
        (list(&with(text.clone(), "self.a.contains('xyz')")), 4.4),
        (
            json!({"type": "array", "maxItems": 100, "items": with(json!({"type": "string"}), "self.a.contains('xyz')")}),
            3.1,
        ),
        (json!({"type": "object", "additionalProperties": with(text, "self.a.matches('^[a-z]+$')")}), 8.8),
        (with(json!({"type": "string"}), "self.a.split(',').all(x, x.size() < 3)"), 2.0),
    ];
    for (schema, server) in cases {
        let found = warnings(&schema);
        let said = found[0].split("by a factor of ").nth(1).and_then(|rest| rest.split(';').next()).unwrap();
        let factor: f64 = said.parse().unwrap();
        assert!(factor > server / 2.0 && factor < server * 2.0, "{server}: {found:?}");
    }
}

#[test]
fn what_cant_be_read_is_left_to_the_api_server() {
    for rule in ["self.", "'open", "self.a ?", "self.a.all(x)", "§"] {
        let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}, "x-kubernetes-validations": [{"rule": rule}]});
        assert_eq!(warnings(&schema), Vec::<String>::new(), "{rule}");
    }
}

#[test]
fn the_rules_of_a_schema_are_added_up() {
    let rule = json!([{"rule": "self.a.contains('a quite long text that is looked for, again and again')"}]);
    let field = json!({"type": "object", "properties": {"a": {"type": "string"}}, "x-kubernetes-validations": rule});
    let fields: serde_json::Map<_, _> = (0..120).map(|index| (format!("f{index}"), field.clone())).collect();
    let found = warnings(&json!({"type": "object", "properties": fields}));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("K v1: .: the estimated cost of all CEL rules together exceeds "), "{found:?}");
}
