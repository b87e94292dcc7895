//! Resolves name conflicts between CustomResourceDefinitions of a group.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::{
    condition::{self, Condition},
    kind::definition::{has_condition, set_condition},
    object,
};

/// The single names, and the reason of the condition that reports a conflict.
const NAMES: [(&str, &str); 4] = [
    ("plural", "PluralConflict"),
    ("singular", "SingularConflict"),
    ("kind", "KindConflict"),
    ("listKind", "ListKindConflict"),
];

/// Returns the CRD with its accepted names, given the names of the other CRDs of its group; `None` if nothing changed.
pub(super) fn settle<'a>(crd: &Value, group: impl Iterator<Item = &'a Value>, time: &str) -> Option<Value> {
    let wanted = &crd["spec"]["names"];
    let accepted = &crd["status"]["acceptedNames"];
    if wanted == accepted {
        return None;
    }
    let taken = Taken::of(group);
    let mut conflict = None;
    let mut names = accepted.clone();
    for (key, reason) in NAMES {
        let name = wanted[key].as_str().unwrap_or_default();
        if name != accepted[key].as_str().unwrap_or_default() && taken.has(key, name) {
            conflict = Some((reason, in_use(name)));
        } else {
            names[key] = name.into();
        }
        if key == "singular" {
            match short_names(wanted, accepted, &taken) {
                Ok(()) => copy(&mut names, wanted, "shortNames"),
                Err(message) => conflict = Some(("ShortNamesConflict", message)),
            }
        }
    }
    copy(&mut names, wanted, "categories");
    let named = match &conflict {
        None => Condition::new("NamesAccepted", true, "NoConflicts", "no conflicts found"),
        Some((reason, message)) => Condition::new("NamesAccepted", false, reason, message),
    };
    if names == *accepted && condition::find(&crd["status"], "NamesAccepted").is_some_and(|own| named.is_said_by(own)) {
        return None;
    }
    let mut changed = crd.clone();
    object::map_at(&mut changed, &["status"]).insert("acceptedNames".into(), names);
    let accepted = named.status;
    set_condition(&mut changed, &named, time);
    if !has_condition(crd, "Established") {
        let established = if accepted {
            Condition::new("Established", false, "Installing", "the initial names have been accepted")
        } else {
            Condition::new("Established", false, "NotAccepted", "not all names are accepted")
        };
        if accepted || condition::find(&crd["status"], "Established").is_none() {
            set_condition(&mut changed, &established, time);
        }
    }
    Some(changed)
}

/// The names in use: resource names and kinds, which don't conflict with each other.
struct Taken {
    resources: BTreeSet<String>,
    kinds: BTreeSet<String>,
}

impl Taken {
    fn of<'a>(group: impl Iterator<Item = &'a Value>) -> Self {
        let mut taken = Self { resources: BTreeSet::new(), kinds: BTreeSet::new() };
        for names in group {
            let text = |key: &str| names[key].as_str().map(str::to_owned);
            let short = names["shortNames"].as_array().into_iter().flatten().filter_map(Value::as_str);
            taken.resources.extend([text("plural"), text("singular")].into_iter().flatten());
            taken.resources.extend(short.map(str::to_owned));
            taken.kinds.extend([text("kind"), text("listKind")].into_iter().flatten());
        }
        taken
    }

    fn has(&self, key: &str, name: &str) -> bool {
        if key == "kind" || key == "listKind" { self.kinds.contains(name) } else { self.resources.contains(name) }
    }
}

fn short_names(wanted: &Value, accepted: &Value, taken: &Taken) -> Result<(), String> {
    let list = |names: &Value| names["shortNames"].as_array().cloned().unwrap_or_default();
    let own = list(accepted);
    let strange = list(wanted).into_iter().filter(|name| !own.contains(name));
    let strange: Vec<String> = strange.filter_map(|name| name.as_str().map(str::to_owned)).collect();
    let mut used: Vec<String> =
        strange.iter().filter(|name| taken.has("shortNames", name)).map(|name| in_use(name)).collect();
    match used.len() {
        0 => Ok(()),
        1 => Err(used.remove(0)),
        _ => Err(format!("[{}]", used.join(", "))),
    }
}

fn in_use(name: &str) -> String {
    format!("{name:?} is already in use")
}

fn copy(names: &mut Value, wanted: &Value, key: &str) {
    match wanted.get(key).filter(|value| **value != json!([]) && !value.is_null()) {
        Some(value) => names[key] = value.clone(),
        None => {
            if let Value::Object(names) = names {
                names.remove(key);
            }
        }
    }
}
