// Warnings where the API conventions advise against something.

//# unsigned integer
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
pub struct WebAppSpec {
    pub replicas: u32,
}

//# unsigned integer in an option
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
pub struct WebAppSpec {
    pub replicas: Option<u64>,
}

//# integer of the width of the machine
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
pub struct WebAppSpec {
    pub count: isize,
}

//# float
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
pub struct WebAppSpec {
    pub ratio: f64,
}

//# phase
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
pub struct WebAppSpec {
    pub phase: String,
}

//# switch that names a choice
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
#[serde(rename_all = "camelCase")]
pub struct WebAppSpec {
    pub update_policy: bool,
}

//# list without a list type
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
pub struct WebAppSpec {
    pub images: Vec<String>,
}

//# set without a list type
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
pub struct WebAppSpec {
    pub images: Option<BTreeSet<String>>,
}

//# snake case in YAML
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
pub struct WebAppSpec {
    pub base_url: String,
}

//# field that reads like the status
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
pub struct WebAppSpec {
    pub status: String,
}
