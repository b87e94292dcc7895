//! What is kept of an object between passes ends with the object: it is kept by its uid.

use super::{
    Breach, holds, sees,
    source::{Source, sources_in},
};

/// Collections by the name of an object. A name that is deleted and created again is another object.
const BY_NAME: [&str; 6] = [
    "Map<ObjectKey",
    "Map<(Kind, ObjectKey",
    "HashSet<ObjectKey",
    "HashSet<(Kind, ObjectKey",
    "KeyBackoff<ObjectKey",
    "Map<(ObjectKey",
];

/// Where a collection by name is right, and why.
const ALLOWED: [(&str, &str); 13] = [
    ("runtime/src/cache/per_object", "it is the one that compares uids"),
    (
        "runtime/src/cache/own_writes",
        "compares the uid at each write; it is asked before the object, and so its uid, is read",
    ),
    ("runtime/src/cache/reader", "compares uid and version"),
    (
        "runtime/src/engine/causal_chain",
        "a write ends with its object; the length for a pass is used once, and a request by a user starts at zero",
    ),
    ("runtime/src/engine/plan", "ends with the pass"),
    (
        "runtime/src/engine/write_traces",
        "an entry is used once, by the next pass over the object, and only if its digest is that of the object",
    ),
    ("runtime/src/engine/staged", "ends with the pass"),
    ("runtime/src/reconcile/recent", "compares uid and version"),
    (
        "runtime/src/reconcile/settled",
        "an object that is not in the cache has no known uid; an entry is removed when the watch shows the object",
    ),
    ("runtime/src/reference/referrers", "each pass replaces it; it only wakes"),
    ("runtime/src/reference/selector", "each pass replaces it; it only wakes"),
    ("runtime/src/provisioner/remote/registration", "ends with the pass"),
    ("runtime/src/scope/verified_registrations", "compares the version at each change, and a change ends it"),
];

#[test]
fn state_of_an_object_is_kept_by_its_uid() {
    let kept = sources_in(&["runtime/src"]).filter(|source| !ALLOWED.iter().any(|(file, _)| source.is_in(&[file])));
    holds("state of an object is kept by its uid", kept.flat_map(by_name));
}

#[test]
fn every_exception_is_needed() {
    let needless = ALLOWED.iter().filter(|(file, _)| sources_in(&[file]).flat_map(by_name).next().is_none());
    holds(
        "exceptions are needed",
        needless.map(|(file, why)| {
            Breach::new(file.as_ref(), 1, format!("has no collection by name: {why}"), "remove it from the table")
        }),
    );
}

fn by_name(source: &Source) -> Vec<Breach> {
    let shipped = source.text.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = shipped.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"));
    let fix = "keep it in a `PerObject`, which ends with the uid, or say in tests/suites/tidy/identity.rs why not";
    lines
        .filter(|(_, line)| BY_NAME.iter().any(|by_name| line.contains(by_name)))
        .map(|(at, line)| Breach::new(&source.path, at + 1, format!("`{}`", line.trim()), fix))
        .collect()
}

#[test]
fn collections_by_name_are_seen() {
    let source = Source::parse(
        "runtime/src/reconcile/mod.rs",
        "struct Loop {
            parked: Mutex<HashMap<ObjectKey, String>>,
            children: PerObject<u32>,
            settled: BTreeMap<(Kind, ObjectKey), u64>,
            keys: BTreeSet<ObjectKey>,
            backoff: KeyBackoff<ObjectKey>,
        }
        #[cfg(test)]
        mod tests { struct A { a: HashMap<ObjectKey, u8> } }",
    );
    sees(by_name(&source), &[2, 4, 6]);
}
