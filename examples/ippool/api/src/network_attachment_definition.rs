//! The kind `NetworkAttachmentDefinition` of Multus.

opgen::dynamic_kind! {
    /// A network that Pods can be attached to; its CNI configuration is a string in `spec.config`.
    pub NetworkAttachmentDefinition: "k8s.cni.cncf.io/v1", "network-attachment-definitions", namespaced;
}

impl NetworkAttachmentDefinition {
    /// The CNI configuration; may be empty.
    pub fn config(&self) -> &str {
        self.content.get("spec").and_then(|spec| spec.get("config")?.as_str()).unwrap_or_default()
    }
}
