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

//# grant without a reference
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
pub struct WebAppSpec {
    #[managed(grant)]
    pub network: String,
}

//# rules that the type of the field has no place for
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
pub struct WebAppSpec {
    #[schemars(length(max = 5))]
    pub labels: BTreeMap<String, String>,
    #[schemars(inner(length(max = 5)))]
    pub notes: Option<HashMap<String, String>>,
    #[schemars(regex(pattern = "Gi$"), range(min = 1))]
    pub size: k8s_openapi::apimachinery::pkg::api::resource::Quantity,
    #[schemars(length(min = 1))]
    pub count: i32,
    #[schemars(regex(pattern = "a"), extend("x-kubernetes-list-type" = "atomic"))]
    pub names: Vec<String>,
}

//# a required field with a default
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
pub struct WebAppSpec {
    #[schemars(required)]
    #[serde(default)]
    pub image: Option<String>,
}

//# a merge strategy that the API server does not know
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
pub struct WebAppSpec {
    #[x_kube(merge_strategy = StructMerge::Atomic)]
    pub place: Place,
}

//# rules in their place
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
pub struct WebAppSpec {
    #[schemars(length(max = 5), regex(pattern = "a"))]
    pub image: Option<String>,
    #[schemars(length(max = 5), inner(regex(pattern = "a")), extend("x-kubernetes-list-type" = "atomic"))]
    pub names: Vec<String>,
    #[schemars(range(min = 1))]
    pub count: i32,
    #[schemars(length(max = 5))]
    pub place: Place,
    #[schemars(regex(pattern = "a"))]
    pub size: Quantity,
    #[managed(refrence = Network)]
    pub network: String,
}
