// Items that are no spec, and enums that have no structural schema.

//# tuple struct
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
pub struct WebAppSpec(String);

//# unit struct
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
pub struct WebAppSpec;

//# union
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
pub union WebAppSpec {
    pub a: u32,
}

//# generic struct
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
pub struct WebAppSpec<T> {
    pub value: T,
}

//# untagged enum
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
#[serde(untagged)]
pub enum WebAppSpec {
    A(First),
    B(Second),
}

//# internally tagged enum
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
#[serde(tag = "type")]
pub enum WebAppSpec {
    A(First),
    B(Second),
}

//# adjacently tagged enum
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
#[serde(tag = "type", content = "value")]
pub enum WebAppSpec {
    A(First),
    B(Second),
}

//# enum that mixes units and structs
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
pub enum WebAppSpec {
    Off,
    On { level: i32 },
}

//# enum with a tuple variant
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
pub enum WebAppSpec {
    A(i32, i32),
    B(First),
}

//# enum without variants
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
pub enum WebAppSpec {
    
}

//# untagged variant
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
pub enum WebAppSpec {
    A(First),
    #[serde(untagged)]
    B(Second),
}

//# managed attribute on a variant
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
pub enum WebAppSpec {
    #[managed(allow(float))]
    A(First),
}

//# managed attribute in a variant
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
pub enum WebAppSpec {
    A {
        #[managed(allow(float))]
        ratio: f64,
    },
}

//# no item
fn web_app() {}
