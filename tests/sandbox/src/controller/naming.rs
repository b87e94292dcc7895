//! Accepts the names that a CustomResourceDefinition requests, except for names that another CustomResourceDefinition of the same API group
//! uses. Sets the condition `NamesAccepted`.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::{
    condition::{self, Condition},
    kind::definition::{has_condition, set_condition},
    object,
};

/// The names that are compared one by one, each with the reason that reports its conflict.
const NAMES: [(&str, &str); 4] = [
    ("plural", "PluralConflict"),
    ("singular", "SingularConflict"),
    ("kind", "KindConflict"),
    ("listKind", "ListKindConflict"),
];

/// Returns the CRD with the names that it can use (`status.acceptedNames`) and the conditions about them; `None` if nothing changed.
/// `names_in_group` are the accepted names of the CRDs in its API group, with which a newly requested name must not conflict.
pub(super) fn resolve<'a>(crd: &Value, names_in_group: impl Iterator<Item = &'a Value>, time: &str) -> Option<Value> {
    let requested = &crd["spec"]["names"];
    let accepted = &crd["status"]["acceptedNames"];
    if requested == accepted {
        return None;
    }
    let used_names = UsedNames::collect(names_in_group);
    let mut conflict = None;
    let mut names = accepted.clone();
    for (key, reason) in NAMES {
        let name = requested[key].as_str().unwrap_or_default();
        if name != accepted[key].as_str().unwrap_or_default() && used_names.contains(key, name) {
            conflict = Some((reason, in_use_message(name)));
        } else {
            names[key] = name.into();
        }
        // As in the API server, the short names are checked before the kind, and the last conflict that is found is reported.
        if key == "singular" {
            match check_short_names(requested, accepted, &used_names) {
                Ok(()) => copy_or_remove(&mut names, requested, "shortNames"),
                Err(message) => conflict = Some(("ShortNamesConflict", message)),
            }
        }
    }
    copy_or_remove(&mut names, requested, "categories");
    let names_accepted = match &conflict {
        None => Condition::new("NamesAccepted", true, "NoConflicts", "no conflicts found"),
        Some((reason, message)) => Condition::new("NamesAccepted", false, reason, message),
    };
    if names == *accepted
        && condition::find(&crd["status"], "NamesAccepted")
            .is_some_and(|existing| names_accepted.matches_message(existing))
    {
        return None;
    }
    let mut changed = crd.clone();
    object::map_at(&mut changed, &["status"]).insert("acceptedNames".into(), names);
    let is_accepted = names_accepted.status;
    set_condition(&mut changed, &names_accepted, time);
    if !has_condition(crd, "Established") {
        let established = if is_accepted {
            Condition::new("Established", false, "Installing", "the initial names have been accepted")
        } else {
            Condition::new("Established", false, "NotAccepted", "not all names are accepted")
        };
        // If names are rejected, an existing condition `Established` stays unchanged.
        if is_accepted || condition::find(&crd["status"], "Established").is_none() {
            set_condition(&mut changed, &established, time);
        }
    }
    Some(changed)
}

/// The names in use: resource names and kinds, which don't conflict with each other.
struct UsedNames {
    resources: BTreeSet<String>,
    kinds: BTreeSet<String>,
}

impl UsedNames {
    /// Collects the accepted names of several CRDs into one set of resource names and one set of kinds.
    fn collect<'a>(accepted_names: impl Iterator<Item = &'a Value>) -> Self {
        let mut used_names = Self { resources: BTreeSet::new(), kinds: BTreeSet::new() };
        for names in accepted_names {
            let text = |key: &str| names[key].as_str().map(str::to_owned);
            let short_names = names["shortNames"].as_array().into_iter().flatten().filter_map(Value::as_str);
            used_names.resources.extend([text("plural"), text("singular")].into_iter().flatten());
            used_names.resources.extend(short_names.map(str::to_owned));
            used_names.kinds.extend([text("kind"), text("listKind")].into_iter().flatten());
        }
        used_names
    }

    /// Returns whether a name is in use: by a kind if `key` is `kind` or `listKind`, otherwise by a resource name.
    fn contains(&self, key: &str, name: &str) -> bool {
        if key == "kind" || key == "listKind" { self.kinds.contains(name) } else { self.resources.contains(name) }
    }
}

/// Checks the requested short names that are not accepted yet.
///
/// # Errors
/// The message of the conflict if another CRD uses a requested name; in brackets if there are several conflicts.
fn check_short_names(requested: &Value, accepted: &Value, used_names: &UsedNames) -> Result<(), String> {
    let list = |names: &Value| names["shortNames"].as_array().cloned().unwrap_or_default();
    let old_names = list(accepted);
    let new_names = list(requested).into_iter().filter(|name| !old_names.contains(name));
    let new_names: Vec<String> = new_names.filter_map(|name| name.as_str().map(str::to_owned)).collect();
    let mut conflicts: Vec<String> = new_names
        .iter()
        .filter(|name| used_names.contains("shortNames", name))
        .map(|name| in_use_message(name))
        .collect();
    match conflicts.len() {
        0 => Ok(()),
        1 => Err(conflicts.remove(0)),
        _ => Err(format!("[{}]", conflicts.join(", "))),
    }
}

fn in_use_message(name: &str) -> String {
    format!("{name:?} is already in use")
}

/// Copies the list in the field `key`, such as `shortNames`, from the requested names to `names`. Removes the field from `names` if the
/// requested list is missing or empty.
fn copy_or_remove(names: &mut Value, requested: &Value, key: &str) {
    match requested.get(key).filter(|value| **value != json!([]) && !value.is_null()) {
        Some(value) => names[key] = value.clone(),
        None => {
            if let Value::Object(names) = names {
                names.remove(key);
            }
        }
    }
}
