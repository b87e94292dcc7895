//! Limits the number of `Update` entries in `managedFields`.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::managers::{Manager, ManagerOperation, Managers};

/// The maximum number of separate `Update` entries.
const MAX_UPDATE_ENTRIES: usize = 10;

/// The manager that gets the fields of merged `Update` entries.
const ANCIENT: &str = "ancient-changes";

/// Merges the oldest `Update` entries of each API version into one entry of the manager [`ANCIENT`], until at most [`MAX_UPDATE_ENTRIES`]
/// `Update` entries are left.
pub(super) fn cap_update_entries(managers: &mut Managers) {
    if managers.sets.len() <= MAX_UPDATE_ENTRIES {
        return;
    }
    let updaters = managers.sets.iter().filter(|(manager, _)| manager.operation == ManagerOperation::Update);
    let seconds = |time: Option<Timestamp>| time.map_or(0, Timestamp::as_second);
    let mut by_age: Vec<_> =
        updaters.map(|(manager, owned)| (seconds(owned.time), manager.sort_key(), manager.clone())).collect();
    let mut count = by_age.len();
    if count <= MAX_UPDATE_ENTRIES {
        return;
    }
    by_age.sort();
    let mut oldest_by_version: BTreeMap<String, Manager> = BTreeMap::new();
    for (_, _, manager) in by_age {
        if count <= MAX_UPDATE_ENTRIES {
            break;
        }
        let Some(owned) = managers.sets.get(&manager) else { continue };
        let version = owned.api_version.clone();
        // The oldest entry of a version keeps its manager unless a second entry is merged with it.
        let Some(oldest_manager) = oldest_by_version.get(&version) else {
            oldest_by_version.insert(version, manager);
            continue;
        };
        let ancient_manager = Manager::new(ANCIENT, ManagerOperation::Update, &version, None);
        if !managers.sets.contains_key(&ancient_manager)
            && let Some(owned) = managers.sets.remove(oldest_manager)
        {
            managers.sets.insert(ancient_manager.clone(), owned);
        }
        if let Some(merged) = managers.sets.remove(&manager)
            && let Some(all) = managers.sets.get_mut(&ancient_manager)
        {
            all.set = all.set.union(&merged.set);
            all.time = merged.time;
            count -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::{Set, managers::VersionedSet};

    #[test]
    fn the_oldest_update_entries_are_merged_into_ancient_changes() {
        let mut managers = Managers::default();
        for (index, name) in ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"].into_iter().enumerate() {
            let set = Set::from_paths(&[&["data", name]]);
            let time = i64::try_from(index).ok().and_then(|second| Timestamp::from_second(second).ok());
            let owned = VersionedSet { time, ..VersionedSet::new("v1", set) };
            managers.sets.insert(Manager::new(name, ManagerOperation::Update, "v1", None), owned);
        }
        cap_update_entries(&mut managers);
        assert_eq!(managers.sets.len(), MAX_UPDATE_ENTRIES);
        let ancient = managers.sets.get(&Manager::new(ANCIENT, ManagerOperation::Update, "v1", None));
        let paths = ancient.map(|owned| (owned.set.paths(), owned.time.map(Timestamp::as_second)));
        assert_eq!(paths, Some((vec![".data.a".to_owned(), ".data.b".into(), ".data.c".into()], Some(2))));
    }
}
