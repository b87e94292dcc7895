#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", namespaced, status = "Status")]
#[managed(crate = "my::facade")]
pub struct WebAppSpec {
    #[valid(immutable)]
    pub class: String,
    pub source: Option<Source>,
}
