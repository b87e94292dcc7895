// `version` of `#[kube(...)]`.

//# version that is a word
#[kube(group = "demo.example.com", version = "one", kind = "WebApp", status = "Status")]
pub struct WebAppSpec {
    pub image: String,
}

//# version without a v
#[kube(group = "demo.example.com", version = "1", kind = "WebApp", status = "Status")]
pub struct WebAppSpec {
    pub image: String,
}

//# version in upper case
#[kube(group = "demo.example.com", version = "V1", kind = "WebApp", status = "Status")]
pub struct WebAppSpec {
    pub image: String,
}

//# semantic version
#[kube(group = "demo.example.com", version = "v1.0.0", kind = "WebApp", status = "Status")]
pub struct WebAppSpec {
    pub image: String,
}

//# version with an unknown stage
#[kube(group = "demo.example.com", version = "v1gamma1", kind = "WebApp", status = "Status")]
pub struct WebAppSpec {
    pub image: String,
}

//# stage without a number
#[kube(group = "demo.example.com", version = "v1alpha", kind = "WebApp", status = "Status")]
pub struct WebAppSpec {
    pub image: String,
}

//# version with a leading zero
#[kube(group = "demo.example.com", version = "v01", kind = "WebApp", status = "Status")]
pub struct WebAppSpec {
    pub image: String,
}

//# empty version
#[kube(group = "demo.example.com", version = "", kind = "WebApp", status = "Status")]
pub struct WebAppSpec {
    pub image: String,
}
