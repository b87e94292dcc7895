#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
pub struct WebAppSpec {
    pub ratio: f32,
}
