// Fields by their names and attributes.

//# reference by a field that is not in the spec
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
pub struct WebAppSpec {
    pub image: String,
    #[serde(skip)]
    #[managed(reference = Network)]
    pub network: String,
}

//# finalizer on a field
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
pub struct WebAppSpec {
    #[managed(finalizer = "a.b/c")]
    pub image: String,
}

//# pause on a field
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
pub struct WebAppSpec {
    #[managed(pause = halted)]
    pub halted: bool,
}

//# kube attribute on a field
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
pub struct WebAppSpec {
    #[kube(shortname = "wa")]
    pub image: String,
}

//# unknown key on a field
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
pub struct WebAppSpec {
    #[managed(refrence = Network)]
    pub network: String,
}

//# unknown warning allowed on a field
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
pub struct WebAppSpec {
    #[managed(allow(flota))]
    pub ratio: String,
}

//# two fields renamed to one
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
pub struct WebAppSpec {
    pub image: String,
    #[serde(rename = "image")]
    pub picture: String,
}

//# two fields in one camel case
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
#[serde(rename_all = "camelCase")]
pub struct WebAppSpec {
    pub base_url: String,
    #[serde(rename = "baseUrl")]
    pub url: String,
}

//# field that an embedded resource reserves
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
#[schemars(extend("x-kubernetes-embedded-resource" = true))]
pub struct WebAppSpec {
    #[managed(allow(reserved))]
    pub kind: String,
}

//# several mistakes on one struct
#[kube(group = "demo", version = "one", kind = "WebApp", status = "Status")]
#[managed(finalizer = "x")]
pub struct WebAppSpec {
    pub pair: (i32, i32),
}
