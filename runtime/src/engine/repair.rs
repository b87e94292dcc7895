//! Counts repairs of children that do not last, so that a fight with another client is reported and slowed down.
//!
//! The first repairs are made at once: somebody edits or deletes a child, and it is restored. A repair of the same field that is
//! needed again and again means that two clients write it in turn, or that a build function returns another object each time.
//! Such a pass ends with an error whose reason is `Fighting`, and so with the backoff of the controller.

use crate::{cache::ObjectKey, kind::Kind};
use std::time::Duration;
use tokio::time::Instant;

/// Repairs in a row that are made at once.
const REPAIRS: u32 = 5;
/// Repairs that are farther apart are not in a row. A fight is over after as long without one.
const CALM: Duration = Duration::from_secs(30);

/// Other objects in a row that a build function may return at once, although nothing changed but the children themselves.
const REBUILDS: u32 = 30;
/// Those that are farther apart are not in a row.
const REBUILD_CALM: Duration = Duration::from_secs(2);

/// What was repaired of an object.
#[derive(Clone, Debug)]
pub(crate) enum Damage {
    /// Another client changed or removed a field.
    Field {
        path: Box<str>,
        /// The field manager that has the field now; `None` if the field was removed.
        manager: Option<Box<str>>,
    },
    /// Another client deleted the object.
    Deleted,
    /// Another client removed the labels, annotations or owner reference by which the operator finds the object.
    Marks,
    /// The build function returned another object, although nothing changed but children of the owner.
    Rebuilt,
    /// A node asked for other objects, although nothing changed but children of the owner.
    Replaced {
        /// The path of the node.
        node: Box<str>,
    },
    /// A hand-written node wrote the object, although nothing changed but what its nodes had written, or what another client did
    /// to that.
    ByHand {
        /// The name of the node's type.
        node: Box<str>,
    },
    /// The status of the owner is another, although nothing changed but the owner by the operator's own write.
    Status,
}

impl Damage {
    /// Whether it is the same field, whoever changed it.
    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Field { path, .. }, Self::Field { path: other, .. }) => path == other,
            (Self::Replaced { node }, Self::Replaced { node: other })
            | (Self::ByHand { node }, Self::ByHand { node: other }) => node == other,
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }

    fn limits(&self) -> (u32, Duration) {
        match self {
            Self::Rebuilt | Self::Replaced { .. } | Self::ByHand { .. } | Self::Status => (REBUILDS, REBUILD_CALM),
            _ => (REPAIRS, CALM),
        }
    }
}

/// Repairs in a row of one object.
#[derive(Clone, Debug)]
struct Repair {
    kind: Kind,
    key: ObjectKey,
    damage: Damage,
    count: u32,
    last: Instant,
}

impl Repair {
    fn is_fight(&self) -> bool {
        self.count > self.damage.limits().0
    }

    fn is_over(&self, now: Instant) -> bool {
        let calm = if self.is_fight() { CALM } else { self.damage.limits().1 };
        now.saturating_duration_since(self.last) >= calm
    }

    /// What a condition says: which field, which manager, how often.
    fn sentence(&self) -> String {
        let Self { kind, key, damage, count, .. } = self;
        match damage {
            Damage::Field { path, manager: Some(manager) } => {
                format!("{kind} {key}: field {path} was changed by {manager} and restored, {count} times in a row")
            }
            Damage::Field { path, manager: None } => {
                format!("{kind} {key}: field {path} was removed by another client and restored, {count} times in a row")
            }
            Damage::Deleted => {
                format!("{kind} {key} was deleted by another client and created again, {count} times in a row")
            }
            Damage::Marks => format!(
                "{kind} {key}: its labels, annotations or owner references were changed by another client and restored, \
                 {count} times in a row"
            ),
            Damage::Rebuilt => format!(
                "{kind} {key}: its build function returned another object {count} times in a row although its inputs did not \
                 change"
            ),
            Damage::Replaced { node } => format!(
                "{kind} {key}: node {node} asked for other objects {count} times in a row although its inputs did not change"
            ),
            Damage::ByHand { node } => format!(
                "{kind} {key}: node {node} wrote it {count} times in a row although nothing changed but what it had written"
            ),
            Damage::Status => format!(
                "{kind} {key}: its status was changed {count} times in a row by passes that only its own change had caused"
            ),
        }
    }
}

/// A fight over the children of one owner.
#[derive(Debug)]
pub(crate) struct Fight {
    pub(crate) sentence: String,
    /// The last repair.
    pub(crate) last: Instant,
    /// When it is over if nothing is repaired before.
    pub(crate) over: Instant,
}

/// The repairs of one owner's children.
#[derive(Clone, Debug, Default)]
pub(crate) struct Repairs(Vec<Repair>);

impl PartialEq for Repairs {
    /// Only tells none from some.
    fn eq(&self, other: &Self) -> bool {
        self.0.is_empty() && other.0.is_empty()
    }
}

impl Repairs {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Counts a repair.
    pub(crate) fn add(&mut self, kind: &Kind, key: &ObjectKey, damage: Damage, now: Instant) {
        // The objects of a node have another name each time.
        let is_of_node = matches!(damage, Damage::Replaced { .. });
        let same = |repair: &&mut Repair| {
            repair.kind == *kind && (is_of_node || repair.key == *key) && repair.damage.is_same(&damage)
        };
        match self.0.iter_mut().find(same) {
            // In a fight the passes are as far apart as the backoff says.
            Some(repair) => {
                let count = if repair.is_over(now) && !repair.is_fight() { 0 } else { repair.count };
                (repair.count, repair.last, repair.damage) = (count.saturating_add(1), now, damage);
                repair.key = key.clone();
            }
            None => self.0.push(Repair { kind: kind.clone(), key: key.clone(), damage, count: 1, last: now }),
        }
    }

    /// Drops the fights that are over, and gives the longest of the others.
    pub(crate) fn fight(&mut self, now: Instant) -> Option<Fight> {
        self.0.retain(|repair| !repair.is_over(now));
        let fights = || self.0.iter().filter(|repair| repair.is_fight());
        let sentence = fights().max_by_key(|repair| repair.count)?.sentence();
        let last = fights().map(|repair| repair.last).max()?;
        Some(Fight { sentence, last, over: last + CALM })
    }

    /// Begins anew.
    pub(crate) fn clear(&mut self) {
        self.0 = Vec::new();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::kind_of;
    use k8s_openapi::api::core::v1::ConfigMap;
    use tokio::time::advance;

    const SECOND: Duration = Duration::from_secs(1);

    fn field(path: &str, manager: Option<&str>) -> Damage {
        Damage::Field { path: path.into(), manager: manager.map(Into::into) }
    }

    fn add(repairs: &mut Repairs, damage: &Damage, times: u32) {
        for _ in 0..times {
            repairs.add(&kind_of::<ConfigMap>(), &ObjectKey::namespaced("shop", "web"), damage.clone(), Instant::now());
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_repairs_of_a_field_are_no_fight() {
        let mut repairs = Repairs::default();
        add(&mut repairs, &field("data.a", None), REPAIRS);
        add(&mut repairs, &field("data.b", None), REPAIRS);
        add(&mut repairs, &Damage::Deleted, REPAIRS);
        assert!(repairs.fight(Instant::now()).is_none());
        add(&mut repairs, &field("data.b", Some("other")), 1);
        let said = "ConfigMap shop/web: field data.b was changed by other and restored, 6 times in a row";
        assert_eq!(repairs.fight(Instant::now()).unwrap().sentence, said);
    }

    #[tokio::test(start_paused = true)]
    async fn repairs_far_apart_are_not_in_a_row() {
        let mut repairs = Repairs::default();
        for _ in 0..REPAIRS * 3 {
            add(&mut repairs, &field("data.a", None), 1);
            assert!(repairs.fight(Instant::now()).is_none());
            advance(CALM).await;
        }
        for _ in 0..REBUILDS * 3 {
            add(&mut repairs, &Damage::Rebuilt, 1);
            assert!(repairs.fight(Instant::now()).is_none());
            advance(REBUILD_CALM).await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn objects_that_replace_each_other_are_counted_by_their_node() {
        let (mut repairs, damage) = (Repairs::default(), Damage::Replaced { node: "web/configs".into() });
        for number in 0..=REBUILDS {
            let key = ObjectKey::namespaced("shop", &format!("web-{number}"));
            repairs.add(&kind_of::<ConfigMap>(), &key, damage.clone(), Instant::now());
        }
        let said = "ConfigMap shop/web-30: node web/configs asked for other objects 31 times in a row although its inputs did \
                    not change";
        assert_eq!(repairs.fight(Instant::now()).unwrap().sentence, said);
    }

    #[tokio::test(start_paused = true)]
    async fn a_fight_goes_on_however_long_the_backoff_is_and_ends_after_a_calm() {
        let mut repairs = Repairs::default();
        add(&mut repairs, &Damage::Deleted, REPAIRS + 1);
        advance(CALM * 10).await;
        add(&mut repairs, &Damage::Deleted, 1);
        assert!(repairs.fight(Instant::now()).is_some_and(|fight| fight.sentence.ends_with("7 times in a row")));
        advance(CALM - SECOND).await;
        let fight = repairs.fight(Instant::now()).unwrap();
        assert_eq!(fight.over, Instant::now() + SECOND);
        advance(SECOND).await;
        assert!(repairs.fight(Instant::now()).is_none());
        assert!(repairs.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_of_a_user_ends_the_count() {
        let mut repairs = Repairs::default();
        add(&mut repairs, &Damage::Marks, REPAIRS + 1);
        repairs.clear();
        add(&mut repairs, &Damage::Marks, REPAIRS);
        assert!(repairs.fight(Instant::now()).is_none());
    }
}
