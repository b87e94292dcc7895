//! The facts of a Pod that the controllers need.

use k8s_openapi::api::core::v1::Pod;

use crate::network_status::{ANNOTATION, NetworkStatus};

/// The facts that decide whether the addresses of a Pod are in use.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PodFacts {
    pub(crate) phase: Phase,
    /// Whether the Pod is being deleted.
    pub(crate) is_terminating: bool,
    /// Whether the taint manager is about to evict the Pod.
    pub(crate) is_disrupted: bool,
    pub(crate) network: NetworkStatus,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Pending,
    Running,
    /// The Pod has terminated, or its node is lost.
    Over,
}

pub(crate) fn facts(pod: &Pod) -> PodFacts {
    let status = pod.status.as_ref();
    let says = |field: Option<&String>, word: &str| field.is_some_and(|said| said == word);
    let phase = status.and_then(|status| status.phase.as_deref());
    let phase = match phase {
        Some("Succeeded" | "Failed") => Phase::Over,
        _ if says(status.and_then(|status| status.reason.as_ref()), "NodeLost") => Phase::Over,
        Some("Pending") => Phase::Pending,
        _ => Phase::Running,
    };
    let mut conditions = status.and_then(|status| status.conditions.as_deref()).unwrap_or_default().iter();
    let is_disrupted = conditions.any(|condition| {
        condition.type_ == "DisruptionTarget"
            && condition.status == "True"
            && says(condition.reason.as_ref(), "DeletionByTaintManager")
    });
    let annotations = pod.metadata.annotations.as_ref();
    let network = annotations.and_then(|annotations| annotations.get(ANNOTATION)).map(String::as_str);
    PodFacts {
        phase,
        is_terminating: pod.metadata.deletion_timestamp.is_some(),
        is_disrupted,
        network: NetworkStatus::read(network),
    }
}
