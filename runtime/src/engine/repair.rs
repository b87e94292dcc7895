//! Counts repairs of children that do not last, so that a fight with another client is reported and slowed down.
//!
//! The first repairs are made at once: somebody edits or deletes a child, and the operator restores it. If the same field needs a
//! repair again and again, two clients write it in turn, or a build function returns another object each time. Such a pass ends
//! with an error with the reason `Fighting`, and so with the backoff of the controller. The same holds for a pass that is part of a
//! [cycle](crate::engine::chain::Chain::is_cycle).

use crate::{cache::ObjectKey, engine::chain::Chain, kind::Kind};
use std::time::Duration;
use tokio::time::Instant;

/// Consecutive repairs that are no fight yet.
const MAX_REPAIRS: u32 = 5;
/// Repairs are consecutive if less time than this is between them. A fight ends after this time without a repair.
const REPAIR_WINDOW: Duration = Duration::from_secs(30);

/// Consecutive changes by the operator's own nodes that are no fight yet, although only children of the owner changed.
const MAX_REBUILDS: u32 = 30;
/// Such changes are consecutive if less time than this is between them.
const REBUILD_WINDOW: Duration = Duration::from_secs(2);

/// The reason why an object had to be written again.
#[derive(Clone, Debug)]
pub(crate) enum RepairReason {
    /// Another client changed or removed a field.
    FieldChanged {
        path: Box<str>,
        /// The field manager that owns the field now; `None` if the field was removed.
        manager: Option<Box<str>>,
    },
    /// Another client deleted the object.
    Deleted,
    /// Another client changed or removed the label, annotations or owner reference by which the operator finds the object and its
    /// state.
    MarksChanged,
    /// The build function returned another object, although only children of the owner had changed.
    Rebuilt,
    /// The object changed after a chain of own writes that is a cycle: primaries that are built from what each other's passes write.
    Cycle {
        /// The number of own writes in the chain.
        length: u32,
    },
    /// A node replaced its objects by others, although only children of the owner had changed.
    Replaced {
        /// The path of the node.
        node: Box<str>,
    },
    /// A hand-written node wrote the object, although nothing had changed but its own writes or another client's changes to them.
    NodeWrite {
        /// The name of the node's type.
        node: Box<str>,
    },
    /// The status of the owner changed, although only the operator's own write of the owner had triggered the pass.
    StatusChanged,
}

impl RepairReason {
    /// Returns the reason `Cycle` if passes that trigger each other by own writes led to the current pass again and again; else `None`.
    pub(crate) fn of_chain(chain: &Chain) -> Option<Self> {
        chain.is_cycle().then_some(Self::Cycle { length: chain.length })
    }

    /// Returns whether two repairs count together: same reason, and same field or node. The field manager may differ.
    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::FieldChanged { path, .. }, Self::FieldChanged { path: other, .. }) => path == other,
            (Self::Replaced { node }, Self::Replaced { node: other })
            | (Self::NodeWrite { node }, Self::NodeWrite { node: other }) => node == other,
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }

    fn is_by_operator(&self) -> bool {
        matches!(self, Self::Rebuilt | Self::Replaced { .. } | Self::NodeWrite { .. } | Self::StatusChanged)
    }

    /// Returns the number of consecutive repairs for this reason that are tolerated; with one more, they are a fight.
    fn max_repairs(&self) -> u32 {
        if let Self::Cycle { .. } = self {
            // A chain counts as a cycle only after many writes, so the first repair is a fight.
            return 0;
        }
        if self.is_by_operator() { MAX_REBUILDS } else { MAX_REPAIRS }
    }

    /// Returns the time between two repairs from which on they are not consecutive.
    fn window(&self) -> Duration {
        if self.is_by_operator() { REBUILD_WINDOW } else { REPAIR_WINDOW }
    }
}

/// Consecutive repairs of one object for one reason.
#[derive(Clone, Debug)]
struct Repair {
    kind: Kind,
    key: ObjectKey,
    reason: RepairReason,
    count: u32,
    last: Instant,
}

impl Repair {
    fn is_fight(&self) -> bool {
        self.count > self.reason.max_repairs()
    }

    /// Returns whether so much time has passed since the last repair that the next one is not consecutive.
    fn is_over(&self, now: Instant) -> bool {
        let window = if self.is_fight() { REPAIR_WINDOW } else { self.reason.window() };
        now.saturating_duration_since(self.last) >= window
    }

    /// Returns the message of the condition: object, reason, number of repairs.
    fn message(&self) -> String {
        let Self { kind, key, reason, count, .. } = self;
        match reason {
            RepairReason::FieldChanged { path, manager: Some(manager) } => {
                format!("{kind} {key}: field {path} was changed by {manager} and restored, {count} times in a row")
            }
            RepairReason::FieldChanged { path, manager: None } => {
                format!("{kind} {key}: field {path} was removed by another client and restored, {count} times in a row")
            }
            RepairReason::Deleted => {
                format!("{kind} {key} was deleted by another client and created again, {count} times in a row")
            }
            RepairReason::MarksChanged => format!(
                "{kind} {key}: its labels, annotations or owner references were changed by another client and restored, \
                 {count} times in a row"
            ),
            RepairReason::Rebuilt => format!(
                "{kind} {key}: its build function returned another object {count} times in a row although its inputs did not \
                 change"
            ),
            RepairReason::Cycle { length } => format!(
                "{kind} {key}: its content is part of a cycle: {length} writes of this operator caused each other without a \
                 change by a user"
            ),
            RepairReason::Replaced { node } => format!(
                "{kind} {key}: node {node} built other objects {count} times in a row although its inputs did not change"
            ),
            RepairReason::NodeWrite { node } => format!(
                "{kind} {key}: node {node} wrote it {count} times in a row although nothing changed but what it had written"
            ),
            RepairReason::StatusChanged => format!(
                "{kind} {key}: its status was changed {count} times in a row by passes that only its own change had caused"
            ),
        }
    }
}

/// A fight over the children of one owner.
#[derive(Debug)]
pub(crate) struct Fight {
    pub(crate) message: String,
    /// The time of the last repair.
    pub(crate) last: Instant,
    /// The time at which the fight ends if there is no further repair.
    pub(crate) end: Instant,
}

/// The repairs of one owner's children.
#[derive(Clone, Debug, Default)]
pub(crate) struct Repairs(Vec<Repair>);

impl PartialEq for Repairs {
    /// Compares only whether there are repairs: the state of an owner is dropped when it equals the default.
    fn eq(&self, other: &Self) -> bool {
        self.0.is_empty() && other.0.is_empty()
    }
}

impl Repairs {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Increments the count of consecutive repairs with the same object and reason (for `Replaced`: the same node and reason), or starts a
    /// new count.
    pub(crate) fn add(&mut self, kind: &Kind, key: &ObjectKey, reason: RepairReason, now: Instant) {
        // The objects that replace each other have different names, so they count together by their node.
        let is_by_node = matches!(reason, RepairReason::Replaced { .. });
        let is_same = |repair: &&mut Repair| {
            repair.kind == *kind && (is_by_node || repair.key == *key) && repair.reason.is_same(&reason)
        };
        match self.0.iter_mut().find(is_same) {
            // In a fight, the count continues whatever the time between two repairs: the backoff determines that time.
            Some(repair) => {
                let count = if repair.is_over(now) && !repair.is_fight() { 0 } else { repair.count };
                (repair.count, repair.last, repair.reason) = (count.saturating_add(1), now, reason);
                repair.key = key.clone();
            }
            None => self.0.push(Repair { kind: kind.clone(), key: key.clone(), reason, count: 1, last: now }),
        }
    }

    /// Drops the repairs that are over. Returns the current fight, with the message of the most frequent repair; `None` if there
    /// is no fight.
    pub(crate) fn fight(&mut self, now: Instant) -> Option<Fight> {
        self.0.retain(|repair| !repair.is_over(now));
        let fights = || self.0.iter().filter(|repair| repair.is_fight());
        let message = fights().max_by_key(|repair| repair.count)?.message();
        let last = fights().map(|repair| repair.last).max()?;
        Some(Fight { message, last, end: last + REPAIR_WINDOW })
    }

    /// Drops all repairs.
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

    /// Returns the reason of a repair of a field that another client, the field manager, has changed; without a manager it was removed.
    fn field(path: &str, manager: Option<&str>) -> RepairReason {
        RepairReason::FieldChanged { path: path.into(), manager: manager.map(Into::into) }
    }

    /// Counts so many repairs of the ConfigMap `shop/web` for a reason.
    fn add(repairs: &mut Repairs, reason: &RepairReason, times: u32) {
        for _ in 0..times {
            repairs.add(&kind_of::<ConfigMap>(), &ObjectKey::namespaced("shop", "web"), reason.clone(), Instant::now());
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_repairs_of_a_field_are_no_fight() {
        let mut repairs = Repairs::default();
        add(&mut repairs, &field("data.a", None), MAX_REPAIRS);
        add(&mut repairs, &field("data.b", None), MAX_REPAIRS);
        add(&mut repairs, &RepairReason::Deleted, MAX_REPAIRS);
        assert!(repairs.fight(Instant::now()).is_none());
        add(&mut repairs, &field("data.b", Some("other")), 1);
        let expected = "ConfigMap shop/web: field data.b was changed by other and restored, 6 times in a row";
        assert_eq!(repairs.fight(Instant::now()).unwrap().message, expected);
    }

    #[tokio::test(start_paused = true)]
    async fn repairs_far_apart_are_not_in_a_row() {
        let mut repairs = Repairs::default();
        for _ in 0..MAX_REPAIRS * 3 {
            add(&mut repairs, &field("data.a", None), 1);
            assert!(repairs.fight(Instant::now()).is_none());
            advance(REPAIR_WINDOW).await;
        }
        for _ in 0..MAX_REBUILDS * 3 {
            add(&mut repairs, &RepairReason::Rebuilt, 1);
            assert!(repairs.fight(Instant::now()).is_none());
            advance(REBUILD_WINDOW).await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn objects_that_replace_each_other_are_counted_by_their_node() {
        let (mut repairs, reason) = (Repairs::default(), RepairReason::Replaced { node: "web/configs".into() });
        for number in 0..=MAX_REBUILDS {
            let key = ObjectKey::namespaced("shop", &format!("web-{number}"));
            repairs.add(&kind_of::<ConfigMap>(), &key, reason.clone(), Instant::now());
        }
        let expected = "ConfigMap shop/web-30: node web/configs built other objects 31 times in a row although its inputs \
                        did not change";
        assert_eq!(repairs.fight(Instant::now()).unwrap().message, expected);
    }

    #[tokio::test(start_paused = true)]
    async fn a_fight_goes_on_however_long_the_backoff_is_and_ends_after_a_calm() {
        let mut repairs = Repairs::default();
        add(&mut repairs, &RepairReason::Deleted, MAX_REPAIRS + 1);
        advance(REPAIR_WINDOW * 10).await;
        add(&mut repairs, &RepairReason::Deleted, 1);
        assert!(repairs.fight(Instant::now()).is_some_and(|fight| fight.message.ends_with("7 times in a row")));
        advance(REPAIR_WINDOW - SECOND).await;
        let fight = repairs.fight(Instant::now()).unwrap();
        assert_eq!(fight.end, Instant::now() + SECOND);
        advance(SECOND).await;
        assert!(repairs.fight(Instant::now()).is_none());
        assert!(repairs.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_of_a_user_ends_the_count() {
        let mut repairs = Repairs::default();
        add(&mut repairs, &RepairReason::MarksChanged, MAX_REPAIRS + 1);
        repairs.clear();
        add(&mut repairs, &RepairReason::MarksChanged, MAX_REPAIRS);
        assert!(repairs.fight(Instant::now()).is_none());
    }
}
