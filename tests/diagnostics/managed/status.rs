// The subresource `status`, and what else `#[kube(...)]` must or must not say.

//# status is missing
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp")]
pub struct WebAppSpec {
    pub image: String,
}

//# kube attribute is missing
pub struct WebAppSpec {
    pub image: String,
}

//# no_spec is not supported
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status", no_spec)]
pub struct WebAppSpec {
    pub image: String,
}

//# version that is not served
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status", served = false)]
pub struct WebAppSpec {
    pub image: String,
}

//# kind without a schema
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status", schema = "disabled")]
pub struct WebAppSpec {
    pub image: String,
}

//# empty deprecation warning
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status", deprecated = "")]
pub struct WebAppSpec {
    pub image: String,
}

//# deprecation warning too long
#[kube(
    group = "demo.example.com",
    version = "v1",
    kind = "WebApp",
    status = "Status",
    deprecated = "use v2 use v2 use v2 use v2 use v2 use v2 use v2 use v2 use v2 use v2 use v2 use v2 use v2 use v2 use v2 use v2 use v2 use v2 use v2 use v2 use v2 use v2 use v2 use v2 use v2 use v2 use v2 use v2 use v2 use v2 use v2 use v2 use v2 use v2 use v2 use v2 use v2 use v2 use v2 use v2 "
)]
pub struct WebAppSpec {
    pub image: String,
}
