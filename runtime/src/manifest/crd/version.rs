//! Merges the definitions of several controllers and versions into one definition per kind.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::super::lint::{Finding, Findings};
use super::super::project::{KindDescription, Project};
use super::super::webhooks;
use super::schema::{flag, list, text};
use super::{Definition, types};
use crate::panic::{Closure, catch};
use crate::validation::{RuleProblem, Validation, ValidationOf};

/// Returns the CustomResourceDefinitions of the project's kinds, before the linter fixes their schemas. Each has every version of its kind
/// once, the newest first. Adds findings about versions that contradict each other to `report`.
pub(crate) fn merge_versions(project: &Project, report: &mut Vec<Finding>) -> Vec<Definition> {
    let mut kinds: BTreeMap<(&str, &str), Vec<&KindDescription>> = BTreeMap::new();
    for controlled in &project.controllers {
        kinds.entry((&controlled.kind.group, &controlled.kind.kind)).or_default().push(controlled);
    }
    let mut definitions = Vec::new();
    for ((_, kind), mut controllers) in kinds {
        let mut findings = Findings::of(kind);
        controllers.sort_by(|a, b| by_priority(&a.kind.version, &b.kind.version).then(a.finalizer.cmp(&b.finalizer)));
        check_finalizers(&controllers, &mut findings);
        controllers.retain(|controlled| !controlled.is_foreign());
        definitions.extend(merge_definition(project, &controllers, &mut findings));
        report.extend(findings.into_vec());
    }
    definitions.sort_by_key(|definition| (definition.group.clone(), definition.plural.clone()));
    definitions
}

/// Reports two controllers of a kind that share a finalizer.
fn check_finalizers(controllers: &[&KindDescription], findings: &mut Findings) {
    let mut names = BTreeSet::new();
    for controlled in controllers {
        let finalizer = &controlled.finalizer;
        if !finalizer.is_empty() && !names.insert(finalizer) {
            findings.error(
                ".metadata.finalizers",
                format!("two controllers share the finalizer `{finalizer}`"),
                "give one of them another name: otherwise one controller releases the object for both",
            );
        }
    }
}

/// Merges the definitions of one kind's versions into one; `controllers` start with the newest version. Returns `None` if the operator
/// doesn't define the kind, or if the definition has another group, kind or plural than the controller's kind.
fn merge_definition(
    project: &Project,
    controllers: &[&KindDescription],
    findings: &mut Findings,
) -> Option<Definition> {
    let newest = controllers.first()?;
    let kind = &newest.kind;
    let mut value = newest.crd.clone()?;
    let names = &value["spec"]["names"];
    let definition_names = [text(&value["spec"], "group"), text(names, "kind"), text(names, "plural")];
    if definition_names != [&kind.group, &kind.kind, &kind.plural] {
        let problem = format!(
            "the definition is for `{}`, but the controller's kind is `{}`",
            definition_names.join("/"),
            kind.full_name()
        );
        findings.error("spec.names", problem, "use the same type for both");
        return None;
    }
    let mut versions: Vec<Value> = Vec::new();
    let sources: Vec<_> = controllers.iter().flat_map(|controlled| SchemaSource::all(controlled, findings)).collect();
    for source in sources {
        check_equal_names(&source.crd, &value, findings);
        for version in list(&source.crd["spec"], "versions") {
            let mut version = version.clone();
            let mut version_findings = Findings::of(format!("{} {}", kind.kind, text(&version, "name")));
            let schema = &mut version["schema"]["openAPIV3Schema"];
            if let Some(by_names) = &source.by_names {
                types::correct(schema, by_names, &mut version_findings);
            }
            if let Some(validation) = source.validation {
                add_rules(&validation(), schema, &mut version_findings);
            }
            findings.extend(version_findings);
            add_version(&mut versions, version, findings);
        }
    }
    versions.sort_by(|a, b| by_priority(text(a, "name"), text(b, "name")));
    choose_stored_version(&mut versions, findings);
    value["spec"]["versions"] = Value::Array(versions);
    if controllers.iter().any(|controlled| controlled.is_converted()) {
        value["spec"]["conversion"] = webhooks::conversion(project);
    }
    normalize(&mut value);
    Some(Definition {
        group: kind.group.to_string(),
        plural: kind.plural.to_string(),
        kind: kind.kind.to_string(),
        value,
    })
}

/// A CustomResourceDefinition of one version as `kube` derives it, with the other sources of its schema.
struct SchemaSource {
    crd: Value,
    /// The schema in which types are referenced by name.
    by_names: Option<Value>,
    validation: Option<ValidationOf>,
}

impl SchemaSource {
    /// Returns the source of a controller's kind, and the sources of the other versions of the kind. Reports a version whose definition
    /// can't be derived.
    fn all(controlled: &KindDescription, findings: &mut Findings) -> Vec<Self> {
        let Some(crd) = controlled.crd.clone() else { return Vec::new() };
        let own = Self { crd, by_names: controlled.schema.clone(), validation: controlled.validation };
        let versions = controlled.versions.map(|versions| versions());
        let others = versions
            .iter()
            .flat_map(|versions| versions.iter())
            .filter(|version| version.name != controlled.kind.version);
        let others: Vec<_> = others
            .filter_map(|version| {
                let derived =
                    catch(Closure::Object, || (serde_json::to_value((version.definition)()), (version.schema)()));
                match derived {
                    Ok((Ok(crd), by_names)) => {
                        Some(Self { crd, by_names: Some(by_names), validation: version.validation })
                    }
                    Ok((Err(error), _)) => report_underivable(version.name, &error, findings),
                    Err(panicked) => report_underivable(version.name, &panicked, findings),
                }
            })
            .collect();
        [own].into_iter().chain(others).collect()
    }
}

/// Reports that the definition of `version` can't be derived; returns `None` for the caller to return.
fn report_underivable(version: &str, reason: &dyn std::fmt::Display, findings: &mut Findings) -> Option<SchemaSource> {
    let fix = "change the types of this version";
    findings.error("spec.versions", format!("the definition of version `{version}` can't be derived: {reason}"), fix);
    None
}

/// Adds the CEL rules of `validation` (`x-kubernetes-validations`) to the spec in the schema of a version, and reports each rule that
/// doesn't apply to the place where it was declared.
fn add_rules(validation: &Validation, schema: &mut Value, findings: &mut Findings) {
    let Some(spec) = schema.pointer_mut("/properties/spec") else { return };
    for RuleProblem { path, problem, fix, .. } in validation.add_to_schema(spec, ".spec") {
        findings.error(&path, problem, fix);
    }
}

/// Reports a version if its names, scope or conversion differ from the newest version.
fn check_equal_names(crd: &Value, newest: &Value, findings: &mut Findings) {
    for part in ["names", "scope", "conversion"] {
        if crd["spec"][part] != newest["spec"][part] {
            findings.error(
                &format!("spec.{part}"),
                format!("the versions of the kind differ in `{part}`"),
                "use the same value in `#[kube(...)]` of each version",
            );
        }
    }
}

/// Adds a version to `versions`, unless the same version is there. Reports a version with the same name and another content.
fn add_version(versions: &mut Vec<Value>, version: Value, findings: &mut Findings) {
    let name = text(&version, "name").to_owned();
    match versions.iter().find(|known| known["name"] == version["name"]) {
        None => versions.push(version),
        Some(known) if *known == version => {}
        Some(_) => findings.error(
            "spec.versions",
            format!("version `{name}` has two different definitions"),
            "use another version for one of the two types",
        ),
    }
}

/// Sets `storage` for the first version that has it and clears it for all others: each version comes from its own type, and `kube` sets
/// `storage` for each. Reports a kind without a served or a stored version.
fn choose_stored_version(versions: &mut [Value], findings: &mut Findings) {
    let stored = versions.iter().position(|version| flag(version, "storage"));
    if !versions.iter().any(|version| flag(version, "served")) {
        findings.error("spec.versions", "no version is served", "remove `served = false` from one version");
    }
    let Some(stored) = stored else {
        findings.error("spec.versions", "no version is stored", "remove `storage = false` from one version");
        return;
    };
    for (index, version) in versions.iter_mut().enumerate() {
        version["storage"] = json!(index == stored);
    }
}

/// Removes the status and empty lists from a CustomResourceDefinition, so that a comparison with the object in a cluster shows no needless
/// differences.
fn normalize(crd: &mut Value) {
    let Some(object) = crd.as_object_mut() else { return };
    object.remove("status");
    let Some(spec) = object.get_mut("spec") else { return };
    remove_empty_lists(&mut spec["names"]);
    for version in spec["versions"].as_array_mut().into_iter().flatten() {
        remove_empty_lists(version);
    }
}

/// Removes the fields of a JSON object whose value is an empty list.
fn remove_empty_lists(value: &mut Value) {
    if let Some(object) = value.as_object_mut() {
        object.retain(|_, value| value.as_array().is_none_or(|list| !list.is_empty()));
    }
}

/// Compares versions by the version priority of Kubernetes, highest first: `v2`, `v1`, `v1beta2`, `v1alpha1`, then names of another form
/// in alphabetical order.
fn by_priority(a: &str, b: &str) -> Ordering {
    match (parse_version(a), parse_version(b)) {
        (Some(a), Some(b)) => b.cmp(&a),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => a.cmp(b),
    }
}

/// Parses a Kubernetes version such as `v1beta2` into its stability (0 for alpha, 1 for beta, 2 for stable), its major and its minor
/// number; `None` if it has another form.
fn parse_version(version: &str) -> Option<(u8, u32, u32)> {
    let rest = version.strip_prefix('v')?;
    for (word, stability) in [("alpha", 0), ("beta", 1)] {
        if let Some((major, minor)) = rest.split_once(word) {
            return Some((stability, major.parse().ok()?, minor.parse().ok()?));
        }
    }
    Some((2, rest.parse().ok()?, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_in_the_order_of_kubernetes() {
        let mut versions = ["foo1", "v1alpha2", "v10", "v1beta1", "v2", "v1beta10", "v11alpha1", "bar", "v1"];
        versions.sort_by(|a, b| by_priority(a, b));
        assert_eq!(versions, ["v10", "v2", "v1", "v1beta10", "v1beta1", "v11alpha1", "v1alpha2", "bar", "foo1"]);
    }
}
