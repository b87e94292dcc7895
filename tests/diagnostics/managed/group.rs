// `group` of `#[kube(...)]`.

//# group without a dot
#[kube(group = "demo", version = "v1", kind = "WebApp", status = "Status")]
pub struct WebAppSpec {
    pub image: String,
}

//# group in upper case
#[kube(group = "Demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
pub struct WebAppSpec {
    pub image: String,
}

//# group with an underscore
#[kube(group = "my_demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
pub struct WebAppSpec {
    pub image: String,
}

//# group ending in a dot
#[kube(group = "demo.example.com.", version = "v1", kind = "WebApp", status = "Status")]
pub struct WebAppSpec {
    pub image: String,
}

//# group with an empty label
#[kube(group = "demo..com", version = "v1", kind = "WebApp", status = "Status")]
pub struct WebAppSpec {
    pub image: String,
}

//# empty group
#[kube(group = "", version = "v1", kind = "WebApp", status = "Status")]
pub struct WebAppSpec {
    pub image: String,
}

//# group that is a URL
#[kube(group = "https://example.com", version = "v1", kind = "WebApp", status = "Status")]
pub struct WebAppSpec {
    pub image: String,
}

//# group with a label too long
#[kube(
    group = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.com",
    version = "v1",
    kind = "WebApp",
    status = "Status"
)]
pub struct WebAppSpec {
    pub image: String,
}

//# group of Kubernetes itself
#[kube(group = "demo.k8s.io", version = "v1", kind = "WebApp", status = "Status")]
pub struct WebAppSpec {
    pub image: String,
}

//# the other group of Kubernetes itself
#[kube(group = "apps.kubernetes.io", version = "v1", kind = "WebApp", status = "Status")]
pub struct WebAppSpec {
    pub image: String,
}

//# approval that is no URL
#[kube(
    group = "demo.k8s.io",
    version = "v1",
    kind = "WebApp",
    status = "Status",
    annotation("api-approved.kubernetes.io", "yes")
)]
pub struct WebAppSpec {
    pub image: String,
}
