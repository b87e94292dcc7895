//! `ExternalStates`: the last known states of what an owner has in external services, such as a DNS record. They are kept between passes.

use std::{any::Any, collections::BTreeSet, fmt, sync::Arc, time::Duration};
use tokio::time::Instant;

/// What is known of the thing of an external node. A restart loses it, which costs one observation.
#[derive(Clone)]
pub(crate) enum ExternalState {
    /// At the time `observed`, it was as the spec with this digest wants it.
    UpToDate { digest: String, observed: Instant, output: Arc<dyn Any + Send + Sync> },
    /// When `observed`, the thing and its record were gone. `owner_deleting`: whether the owner was being deleted then.
    Gone { observed: Instant, owner_deleting: bool },
}

impl PartialEq for ExternalState {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::UpToDate { digest, observed, .. }, Self::UpToDate { digest: other, observed: time, .. }) => {
                (digest, observed) == (other, time)
            }
            (Self::Gone { observed, owner_deleting }, Self::Gone { observed: time, owner_deleting: other }) => {
                (observed, owner_deleting) == (time, other)
            }
            _ => false,
        }
    }
}

impl fmt::Debug for ExternalState {
    // The output may be a secret.
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

    /// Returns the paths of the nodes with a record; `None` if the records were not listed for longer than `max_age`.
    pub(crate) fn recorded(&self, max_age: Duration) -> Option<&BTreeSet<Box<str>>> {
        self.recorded.as_ref().filter(|(listed, _)| listed.elapsed() < max_age).map(|(_, nodes)| nodes)
    }

    /// Sets the paths of the nodes with a record, by a list that began at this time, unless a record was written or deleted since.
    pub(crate) fn set_recorded(&mut self, listed: Instant, nodes: BTreeSet<Box<str>>) {
        if self.noted.is_none_or(|noted| noted < listed) {
            self.recorded = Some((listed, nodes));
        }
    }

    /// Notes that a node has a record, or has none any more.
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
