//! `ValidatingPolicy`: rules for the objects of a kind, which the API server checks.

use super::constraints::{Constraints, constraint_methods};
use crate::{
    kind::Typed,
    validation::{InvalidField, RuleExpression, RuleProblem, Validated, Validation, ValidationOf},
};
use kube::core::schema::StructuralSchemaRewriter;
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

/// What the API server does with a write that violates a rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum PolicyAction {
    /// It refuses the write.
    #[default]
    Deny,
    /// It stores the object, and the client gets a warning.
    Warn,
    /// It stores the object, and its audit log has the violation.
    Audit,
}

impl PolicyAction {
    /// Returns the name in `validationActions`.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Deny => "Deny",
            Self::Warn => "Warn",
            Self::Audit => "Audit",
        }
    }
}

/// Rules for the objects of a kind, which the API server checks without a call of the operator: a ValidatingAdmissionPolicy with its
/// binding. The manifests contain both.
///
/// A write that removes finalizers of an object that is being deleted is not checked, so that no rule keeps an object from being removed.
///
/// The rules are CEL expressions, or those of a type with [`Validated`]: the type has only the fields that its rules are about, with
/// the names and types of the kind.
///
/// # Example
///
/// ```
/// use k8s_openapi::api::core::v1::Service;
/// use opgen::{policy::ValidatingPolicy, prelude::*, validation::Validated};
/// use schemars::JsonSchema;
/// use serde::Serialize;
///
/// // The rules for the spec of a Service.
/// #[derive(Validated, JsonSchema, Serialize)]
/// #[serde(rename_all = "camelCase")]
/// struct ServiceRules {
///     #[valid(immutable)]
///     load_balancer_class: Option<String>,
///     #[valid(required_if(r#type = "ExternalName"))]
///     external_name: Option<String>,
///     r#type: Option<String>,
/// }
///
/// let policy = ValidatingPolicy::new::<Service>("services")
///     .rules_of::<ServiceRules>("spec")
///     .rule("!has(object.spec.externalIPs)", "external IPs are not allowed");
/// let operator = Operator::new("network").validating_policy(policy);
/// # drop(operator);
/// ```
#[derive(Clone, Debug)]
pub struct ValidatingPolicy {
    pub(crate) constraints: Constraints,
    pub(crate) action: PolicyAction,
    pub(crate) rules: Vec<RuleExpression>,
    /// The parts of the object with rules of a type, which are also checked in Rust.
    parts: Vec<CheckedPart>,
    pub(crate) problems: Vec<RuleProblem>,
    round_trip: fn(Value) -> Option<Value>,
}

/// A part of an object with rules of a type.
#[derive(Clone, Copy, Debug)]
struct CheckedPart {
    path: &'static str,
    validation: ValidationOf,
}

impl ValidatingPolicy {
    /// Returns a policy without rules for a kind. The name distinguishes the policies of an operator: a DNS label.
    pub fn new<K: Typed + Serialize + DeserializeOwned>(name: impl Into<String>) -> Self {
        Self {
            constraints: Constraints::new(name.into(), K::names()),
            action: PolicyAction::default(),
            rules: Vec::new(),
            parts: Vec::new(),
            problems: Vec::new(),
            round_trip: |object| serde_json::to_value(serde_json::from_value::<K>(object).ok()?).ok(),
        }
    }

    /// Adds a rule: a CEL expression that is true if the write is allowed, of the variables `object`, `oldObject`, `request`,
    /// `namespaceObject` and `authorizer`. Clients get the message if it is false. The API server checks the expression when the policy
    /// is installed, and so does a trial.
    #[must_use]
    pub fn rule(mut self, expression: impl Into<String>, message: impl Into<String>) -> Self {
        self.rules.push(RuleExpression::new(expression, message));
        self
    }

    /// Adds the rules of a type to the part of the object at this path, for example `spec` or `spec.template.spec`. Fields that the kind
    /// doesn't require are of type `Option`.
    ///
    /// As in a schema, an edit that does not change the part with a rule may violate it. Below lists and maps that part is the outermost
    /// list. Rules about a change are refused there.
    ///
    /// `opgen generate` refuses a rule about a field that the kind does not have.
    #[must_use]
    pub fn rules_of<T: Validated + JsonSchema>(mut self, path: &'static str) -> Self {
        let settings = SchemaSettings::openapi3().with(|settings| settings.inline_subschemas = true);
        let settings = settings.with_transform(StructuralSchemaRewriter);
        let schema = settings.into_generator().into_root_schema_for::<T>().to_value();
        let validation = T::validation();
        match validation.to_expressions(&schema, path) {
            Ok(rules) => self.rules.extend(rules),
            Err(problems) => self.problems.extend(problems),
        }
        self.problems.extend(self.unknown_fields(&validation, &schema, path));
        self.parts.push(CheckedPart { path, validation: T::validation });
        self
    }

    /// Sets what the API server does with a write that violates a rule. Default: [`PolicyAction::Deny`].
    #[must_use]
    pub fn action(mut self, action: PolicyAction) -> Self {
        self.action = action;
        self
    }

    constraint_methods!();

    /// Returns the violations of the rules of types by a write, as the API server would report them. It does not evaluate the rules that
    /// are expressions, nor conditions and selectors.
    pub fn check(&self, new: &Value, old: Option<&Value>) -> Vec<InvalidField> {
        let mut invalid = Vec::new();
        for CheckedPart { path, validation } in &self.parts {
            let pointer = format!("/{}", path.replace('.', "/"));
            let part = |object: &Value| object.pointer(if path.is_empty() { "" } else { &pointer }).cloned();
            let Some(new) = part(new) else { continue };
            let violations = validation().check(&new, old.and_then(part).as_ref());
            invalid.extend(violations.into_iter().map(|mut violation| {
                violation.path = format!("{path}{}", violation.path).trim_start_matches('.').to_owned();
                violation
            }));
        }
        invalid
    }

    /// Returns a problem for each field of the rules that the kind doesn't have at `path`. To find out, decodes an object with this field
    /// as the Rust type of the kind and encodes it again: an unknown field is lost.
    fn unknown_fields(&self, validation: &Validation, schema: &Value, path: &str) -> Vec<RuleProblem> {
        let fields = validation.fields_of_rules();
        let is_unknown = |field: &&&str| {
            let value = example(&schema["properties"][**field]);
            let (mut object, pointer) = (json!({**field: value}), format!("{path}.{field}"));
            // Wraps the field in the objects of the path, from the innermost to the outermost.
            for name in path.rsplit('.').filter(|name| !name.is_empty()) {
                object = json!({name: object});
            }
            let pointer = format!("/{}", pointer.trim_start_matches('.').replace('.', "/"));
            (self.round_trip)(object).is_some_and(|object| object.pointer(&pointer).is_none())
        };
        let fix =
            "write the names of the fields as they are in JSON, for example by `#[serde(rename_all = \"camelCase\")]`";
        let problem = |field: &&str| {
            RuleProblem::new(path, format!("{} has no field `{field}` there", self.constraints.kind), fix)
        };
        fields.iter().filter(is_unknown).map(problem).collect()
    }
}

/// Returns a value that is valid for a schema and not empty, except for objects: a type may leave out empty values when it is encoded.
fn example(schema: &Value) -> Value {
    match schema["type"].as_str() {
        Some("boolean") => json!(true),
        Some("integer" | "number") => json!(1),
        Some("array") => json!([example(&schema["items"])]),
        Some("string") => schema["enum"].get(0).cloned().unwrap_or_else(|| json!("1")),
        _ => json!({}),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::validation::{FieldCondition, RuleKind, ValidationRule};
    use k8s_openapi::api::core::v1::Service;

    /// Rules for the spec of a Service, as the derive generates them.
    #[derive(JsonSchema, Serialize)]
    #[serde(rename_all = "camelCase")]
    #[allow(dead_code)]
    struct Rules {
        cluster_ip: Option<String>,
        external_name: Option<String>,
        publish_not_ready_addresses: Option<bool>,
    }

    impl Validated for Rules {
        /// Returns the rules: `externalName` is immutable, and required if `publishNotReadyAddresses` is true.
        fn validation() -> Validation {
            Validation::of_type(
                const {
                    &[
                        ValidationRule::new(RuleKind::Immutable("externalName"), None),
                        ValidationRule::new(
                            RuleKind::RequiredIf("externalName", FieldCondition::new("publishNotReadyAddresses", None)),
                            None,
                        ),
                    ]
                },
            )
        }
    }

    /// A type with a rule about a field that a Service doesn't have.
    struct Misspelled;

    impl JsonSchema for Misspelled {
        fn schema_name() -> std::borrow::Cow<'static, str> {
            "Misspelled".into()
        }

        fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
            Rules::json_schema(generator)
        }
    }

    impl Validated for Misspelled {
        fn validation() -> Validation {
            // The field is `clusterIP` in JSON.
            Validation::of_type(const { &[ValidationRule::new(RuleKind::Immutable("clusterIp"), None)] })
        }
    }

    #[test]
    fn the_rules_of_a_type_are_expressions_and_are_checked_in_rust() {
        let policy = ValidatingPolicy::new::<Service>("services").rules_of::<Rules>("spec");
        assert_eq!((policy.rules.len(), policy.problems.len()), (2, 0), "{:?}", policy.problems);
        assert!(policy.rules[0].expression.contains("object.spec.externalName == oldObject.spec.externalName"));
        let service = |spec: Value| json!({"spec": spec});
        let not_ready = service(json!({"publishNotReadyAddresses": true}));
        let invalid = policy.check(&not_ready, None);
        assert_eq!(invalid.len(), 1);
        assert_eq!((invalid[0].path.as_str(), invalid[0].reason), ("spec.externalName", "FieldValueRequired"));
        assert!(policy.check(&not_ready, Some(&not_ready)).is_empty(), "it is unchanged");
        let named = service(json!({"externalName": "a"}));
        assert_eq!(policy.check(&service(json!({"externalName": "b"})), Some(&named)).len(), 1);
    }

    #[test]
    fn a_field_that_the_kind_does_not_have_is_a_problem() {
        let policy = ValidatingPolicy::new::<Service>("services").rules_of::<Misspelled>("spec");
        assert_eq!(policy.problems.len(), 1);
        assert!(policy.problems[0].problem.contains("has no field `clusterIp` there"), "{:?}", policy.problems);
    }
}
