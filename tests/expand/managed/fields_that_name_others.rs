#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", namespaced, status = "Status")]
#[serde(rename_all = "camelCase")]
struct WebAppSpec {
    #[managed(reference = Network)]
    home_network: String,
    #[managed(reference = k8s_openapi::api::core::v1::Secret)]
    keys: Option<Vec<String>>,
    #[managed(reference = Network)]
    others: LabelSelector,
    #[managed(reference = Network, grant)]
    shared: Option<NamespacedName>,
}
