#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "my::facade::Status")]
#[managed(crate = "my::facade")]
pub struct WebAppSpec {
    pub image: String,
}
