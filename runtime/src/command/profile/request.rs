//! `PodRequest`: a request to the metrics server of a Pod.

/// A request to the metrics server of a Pod.
pub(super) struct PodRequest<'a> {
    pub(super) pod: &'a str,
    pub(super) namespace: &'a str,
    pub(super) port: u16,
    pub(super) path: &'a str,
    /// The ServiceAccount of the token, in the same namespace.
    pub(super) account: &'a str,
    pub(super) token: &'a str,
}

impl PodRequest<'_> {
    /// Returns the namespace and the name of the Pod.
    pub(super) fn pod_name(&self) -> String {
        format!("{}/{}", self.namespace, self.pod)
    }
}
