#[kube(group = "demo.example.com", version = "v1alpha1", kind = "WebApp", namespaced, status = "Status")]
pub struct WebAppSpec {
    pub image: String,
    #[schemars(range(min = 0, max = 50))]
    pub replicas: i32,
    pub ingress: Option<IngressSpec>,
}
