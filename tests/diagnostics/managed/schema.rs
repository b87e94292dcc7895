// Types without a structural schema.

//# tuple
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
pub struct WebAppSpec {
    pub value: (i32, i32),
}

//# unit
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
pub struct WebAppSpec {
    pub value: (),
}

//# list of tuples
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
pub struct WebAppSpec {
    pub value: Option<Box<(String, String)>>,
}

//# any JSON
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
pub struct WebAppSpec {
    pub value: serde_json::Value,
}

//# map of any JSON
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
pub struct WebAppSpec {
    pub value: BTreeMap<String, serde_json::Value>,
}

//# raw JSON
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
pub struct WebAppSpec {
    pub value: serde_json::value::RawValue,
}

//# map with number keys
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
pub struct WebAppSpec {
    pub value: BTreeMap<u32, String>,
}

//# map with bool keys
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
pub struct WebAppSpec {
    pub value: HashMap<bool, String>,
}

//# map with tuple keys
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
pub struct WebAppSpec {
    pub value: HashMap<(u8, u8), String>,
}

//# duration of the standard library
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
pub struct WebAppSpec {
    pub value: std::time::Duration,
}

//# instant
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
pub struct WebAppSpec {
    pub value: std::time::Instant,
}

//# recursion through a box
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
pub struct WebAppSpec {
    pub value: Option<Box<WebAppSpec>>,
}

//# recursion through Self
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
pub struct WebAppSpec {
    pub value: Box<Self>,
}

//# recursion through a map
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
pub struct WebAppSpec {
    pub value: BTreeMap<String, WebAppSpec>,
}

//# integer of 128 bits
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
pub struct WebAppSpec {
    pub value: u128,
}

//# option of an option
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
pub struct WebAppSpec {
    pub value: Option<Option<String>>,
}

//# borrowed text
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
pub struct WebAppSpec {
    pub value: &'static str,
}

//# boxed text
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
pub struct WebAppSpec {
    pub value: Box<str>,
}

//# function pointer
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
pub struct WebAppSpec {
    pub value: fn() -> i32,
}

//# trait object
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
pub struct WebAppSpec {
    pub value: Box<dyn Send>,
}
