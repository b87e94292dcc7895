#[kube(group = "demo.example.com", version = "v1", kind = "Network", status = "Status")]
pub struct NetworkSpec {
    pub pause: bool,
}
