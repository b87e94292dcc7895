//! Limits the number of `Update` entries in `managedFields`.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::managers::{Manager, ManagerOperation, Managers};

/// The maximum number of separate `Update` entries.
const MOST: usize = 10;

/// The manager that gets the fields of merged `Update` entries.
const ANCIENT: &str = "ancient-changes";

/// Merges the oldest `Update` entries of each version until at most [`MOST`] of them are left.
pub(super) fn cap(managers: &mut Managers) {
    if managers.shares.len() <= MOST {
        return;
    }
    let updaters = managers.shares.iter().filter(|(manager, _)| manager.operation == ManagerOperation::Update);
    let seconds = |time: Option<Timestamp>| time.map_or(0, Timestamp::as_second);
    let mut oldest: Vec<_> =
        updaters.map(|(manager, share)| (seconds(share.time), manager.key(), manager.clone())).collect();
    let mut count = oldest.len();
    if count <= MOST {
        return;
    }
    oldest.sort();
    let mut first_of: BTreeMap<String, Manager> = BTreeMap::new();
    for (_, _, manager) in oldest {
        if count <= MOST {
            break;
        }
        let Some(share) = managers.shares.get(&manager) else { continue };
        let version = share.api_version.clone();
        let Some(first) = first_of.get(&version) else {
            first_of.insert(version, manager);
            continue;
        };
        let bucket = Manager::new(ANCIENT, ManagerOperation::Update, &version, None);
        if !managers.shares.contains_key(&bucket)
            && let Some(share) = managers.shares.remove(first)
        {
            managers.shares.insert(bucket.clone(), share);
        }
        if let Some(merged) = managers.shares.remove(&manager)
            && let Some(all) = managers.shares.get_mut(&bucket)
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
    use crate::fields::{Set, managers::Share};

    #[test]
    fn the_oldest_updaters_become_ancient_changes() {
        let mut managers = Managers::default();
        for (index, name) in ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"].into_iter().enumerate() {
            let set = Set::of(&[&["data", name]]);
            let time = i64::try_from(index).ok().and_then(|second| Timestamp::from_second(second).ok());
            let share = Share { time, ..Share::new("v1", set) };
            managers.shares.insert(Manager::new(name, ManagerOperation::Update, "v1", None), share);
        }
        cap(&mut managers);
        assert_eq!(managers.shares.len(), MOST);
        let ancient = managers.shares.get(&Manager::new(ANCIENT, ManagerOperation::Update, "v1", None));
        let paths = ancient.map(|share| (share.set.paths(), share.time.map(Timestamp::as_second)));
        assert_eq!(paths, Some((vec![".data.a".to_owned(), ".data.b".into(), ".data.c".into()], Some(2))));
    }
}
