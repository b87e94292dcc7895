//! `ExternalStates`: the last known states of an owner's resources in external services, such as DNS records, kept between passes.

use std::{any::Any, collections::BTreeSet, fmt, sync::Arc, time::Duration};
use tokio::time::Instant;

/// The last known state of the external resource of a node, such as a DNS record. A restart loses it, which costs one observation.
#[derive(Clone)]
pub(crate) enum ExternalState {
    /// At the time `observed`, the resource was as the spec with this digest wants it.
    UpToDate { digest: String, observed: Instant, output: Arc<dyn Any + Send + Sync> },
    /// At the time `observed`, the resource and its record were gone. `owner_deleting`: whether the owner was being deleted then.
    Gone { observed: Instant, owner_deleting: bool },
}

impl PartialEq for ExternalState {
    /// Compares all fields except the output, whose type is erased.
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::UpToDate { digest, observed, .. },
                Self::UpToDate { digest: other_digest, observed: other_observed, .. },
            ) => (digest, observed) == (other_digest, other_observed),
            (
                Self::Gone { observed, owner_deleting },
                Self::Gone { observed: other_observed, owner_deleting: other_deleting },
            ) => (observed, owner_deleting) == (other_observed, other_deleting),
            _ => false,
        }
    }
}

impl fmt::Debug for ExternalState {
    /// Writes only the name of the variant, since the output may be a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UpToDate { .. } => "UpToDate",
            Self::Gone { .. } => "Gone",
        })
    }
}

/// The states of the external nodes of one owner, by the paths of the nodes.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct ExternalStates {
    states: Vec<(Box<str>, ExternalState)>,
    /// The paths of the nodes with a record, and when the records were listed; `None` before the first list.
    recorded: Option<(Instant, BTreeSet<Box<str>>)>,
    /// When a record was written or deleted last.
    noted: Option<Instant>,
}

impl ExternalStates {
    /// Returns the state of a node; `None` if it is unknown.
    pub(crate) fn state(&self, node: &str) -> Option<&ExternalState> {
        self.states.iter().find(|(path, _)| **path == *node).map(|(_, state)| state)
    }

    pub(crate) fn set_state(&mut self, node: &str, state: ExternalState) {
        self.forget(node);
        self.states.push((node.into(), state));
    }

    pub(crate) fn forget(&mut self, node: &str) {
        self.states.retain(|(path, _)| **path != *node);
    }

    /// Returns the paths of the nodes that have a record (a ConfigMap with the id of the external resource); `None` if the records were
    /// last listed longer ago than `max_age`, or never.
    pub(crate) fn recorded(&self, max_age: Duration) -> Option<&BTreeSet<Box<str>>> {
        self.recorded.as_ref().filter(|(listed, _)| listed.elapsed() < max_age).map(|(_, nodes)| nodes)
    }

    /// Sets the paths of the nodes that have a record (a ConfigMap with the id of the external resource), by a list call that began at
    /// `listed`. Ignores the list if a record was written or deleted since then, because the list may lack this change.
    pub(crate) fn set_recorded(&mut self, listed: Instant, nodes: BTreeSet<Box<str>>) {
        if self.noted.is_none_or(|noted| noted < listed) {
            self.recorded = Some((listed, nodes));
        }
    }

    /// Records that the ConfigMap with the id of a node's external resource (its record) was just written or deleted.
    pub(crate) fn note_record(&mut self, node: &str, exists: bool) {
        self.noted = Some(Instant::now());
        let Some((_, nodes)) = &mut self.recorded else { return };
        if exists {
            nodes.insert(node.into());
        } else {
            nodes.remove(node);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_list_of_records_counts_only_if_no_record_was_written_since_it_began() {
        let (mut states, second) = (ExternalStates::default(), Duration::from_secs(1));
        let known = |states: &ExternalStates| states.recorded(second * 60).cloned();
        let early = Instant::now();
        tokio::time::advance(second).await;
        states.note_record("pools[a]/record", true);
        states.set_recorded(early, BTreeSet::from(["pools[b]/record".into()]));
        assert_eq!(known(&states), None);
        tokio::time::advance(second).await;
        states.set_recorded(Instant::now(), BTreeSet::from(["pools[b]/record".into()]));
        states.note_record("pools[a]/record", true);
        states.note_record("pools[b]/record", false);
        assert_eq!(known(&states), Some(BTreeSet::from(["pools[a]/record".into()])));
        assert_eq!(states.recorded(Duration::ZERO), None);
    }

    #[test]
    fn the_debug_form_of_a_state_has_no_output() {
        let output: Arc<dyn Any + Send + Sync> = Arc::new("password");
        let state = ExternalState::UpToDate { digest: "0f".into(), observed: Instant::now(), output };
        let mut states = ExternalStates::default();
        states.set_state("record", state.clone());
        assert!(!format!("{states:?}").contains("password"));
        assert_eq!(states.state("record"), Some(&state));
        assert_eq!(states.state("other"), None);
        states.forget("record");
        assert_eq!(states, ExternalStates::default());
    }
}
