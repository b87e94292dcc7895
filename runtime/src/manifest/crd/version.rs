//! One definition per kind, however many controllers and versions it has.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::super::finding::{Finding, Findings};
use super::super::project::{Controlled, Project};
use super::schema::{flag, list, text};
use super::{Definition, types};

/// The definitions of the project's kinds, before mends; each version once, the newest first.
pub(crate) fn grouped(project: &Project, found: &mut Vec<Finding>) -> Vec<Definition> {
    let mut kinds: BTreeMap<(&str, &str), Vec<&Controlled>> = BTreeMap::new();
    for controlled in &project.controllers {
        kinds.entry((&controlled.kind.group, &controlled.kind.kind)).or_default().push(controlled);
    }
    let mut definitions = Vec::new();
    for ((_, kind), mut controllers) in kinds {
        let mut findings = Findings::of(kind);
        controllers.sort_by(|a, b| by_priority(&a.kind.version, &b.kind.version).then(a.finalizer.cmp(&b.finalizer)));
        finalizers(&controllers, &mut findings);
        controllers.retain(|controlled| !controlled.is_foreign());
        definitions.extend(united(&controllers, &mut findings));
        found.extend(findings.into_vec());
    }
    definitions.sort_by_key(|definition| (definition.group.clone(), definition.plural.clone()));
    definitions
}

fn finalizers(controllers: &[&Controlled], found: &mut Findings) {
    let mut seen = BTreeSet::new();
    for controlled in controllers {
        let finalizer = &controlled.finalizer;
        if !finalizer.is_empty() && !seen.insert(finalizer) {
            found.error(
                ".metadata.finalizers",
                format!("two controllers share the finalizer `{finalizer}`"),
                "give one of them another name: the first to let go would free the object of both",
            );
        }
    }
}

fn united(controllers: &[&Controlled], found: &mut Findings) -> Option<Definition> {
    let newest = controllers.first()?;
    let kind = &newest.kind;
    let mut value = newest.crd.clone()?;
    let names = &value["spec"]["names"];
    let said = [text(&value["spec"], "group"), text(names, "kind"), text(names, "plural")];
    if said != [&kind.group, &kind.kind, &kind.plural] {
        let problem =
            format!("the definition is of `{}`, the controller's kind is `{}`", said.join("/"), kind.full_name());
        found.error("spec.names", problem, "take both from the same type");
        return None;
    }
    let mut versions: Vec<Value> = Vec::new();
    for controlled in controllers {
        let Some(crd) = &controlled.crd else { continue };
        same_names(crd, &value, found);
        for version in list(&crd["spec"], "versions") {
            let mut version = version.clone();
            if let Some(by_names) = &controlled.schema {
                let mut findings = Findings::of(format!("{} {}", kind.kind, text(&version, "name")));
                types::correct(&mut version["schema"]["openAPIV3Schema"], by_names, &mut findings);
                found.extend(findings);
            }
            add(&mut versions, version, found);
        }
    }
    versions.sort_by(|a, b| by_priority(text(a, "name"), text(b, "name")));
    store_one(&mut versions, found);
    value["spec"]["versions"] = Value::Array(versions);
    tidy(&mut value);
    Some(Definition {
        group: kind.group.to_string(),
        plural: kind.plural.to_string(),
        kind: kind.kind.to_string(),
        value,
    })
}

fn same_names(crd: &Value, newest: &Value, found: &mut Findings) {
    for part in ["names", "scope", "conversion"] {
        if crd["spec"][part] != newest["spec"][part] {
            found.error(
                &format!("spec.{part}"),
                format!("the versions of the kind differ in `{part}`"),
                "say the same in the `#[kube(...)]` of each version",
            );
        }
    }
}

fn add(versions: &mut Vec<Value>, version: Value, found: &mut Findings) {
    let name = text(&version, "name").to_owned();
    match versions.iter().find(|known| known["name"] == version["name"]) {
        None => versions.push(version),
        Some(known) if *known == version => {}
        Some(_) => found.error(
            "spec.versions",
            format!("version `{name}` is defined twice, and differently"),
            "give one of the two types another version",
        ),
    }
}

// Each version comes from a type of its own, and `kube` takes each for the stored one.
fn store_one(versions: &mut [Value], found: &mut Findings) {
    let stored = versions.iter().position(|version| flag(version, "storage"));
    if !versions.iter().any(|version| flag(version, "served")) {
        found.error("spec.versions", "no version is served", "take `served = false` away from one version");
    }
    let Some(stored) = stored else {
        found.error("spec.versions", "no version is stored", "take `storage = false` away from one version");
        return;
    };
    for (index, version) in versions.iter_mut().enumerate() {
        version["storage"] = json!(index == stored);
    }
}

/// Takes away what says nothing: the status, and empty lists, which other tools take for a difference.
fn tidy(crd: &mut Value) {
    let Some(object) = crd.as_object_mut() else { return };
    object.remove("status");
    let Some(spec) = object.get_mut("spec") else { return };
    without_empty_lists(&mut spec["names"]);
    for version in spec["versions"].as_array_mut().into_iter().flatten() {
        without_empty_lists(version);
    }
}

fn without_empty_lists(value: &mut Value) {
    if let Some(object) = value.as_object_mut() {
        object.retain(|_, value| value.as_array().is_none_or(|list| !list.is_empty()));
    }
}

/// The order that Kubernetes gives to versions: `v2`, `v1`, `v1beta2`, `v1alpha1`, then others by the alphabet.
fn by_priority(a: &str, b: &str) -> Ordering {
    match (parsed(a), parsed(b)) {
        (Some(a), Some(b)) => b.cmp(&a),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => a.cmp(b),
    }
}

/// Stability, major and minor number.
fn parsed(version: &str) -> Option<(u8, u32, u32)> {
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
