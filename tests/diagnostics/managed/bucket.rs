// `#[managed(nats(...))]` above the struct.

//# bucket without a name
#[kube(group = "demo.example.com", version = "v1", kind = "Unit", namespaced, status = "Status")]
#[managed(nats(history = 3))]
pub struct UnitSpec {
    pub image: String,
}

//# bucket with a dot in its name
#[kube(group = "demo.example.com", version = "v1", kind = "Unit", namespaced, status = "Status")]
#[managed(nats(bucket = "units.eu"))]
pub struct UnitSpec {
    pub image: String,
}

//# bucket with an empty name
#[kube(group = "demo.example.com", version = "v1", kind = "Unit", namespaced, status = "Status")]
#[managed(nats(bucket = ""))]
pub struct UnitSpec {
    pub image: String,
}

//# no history
#[kube(group = "demo.example.com", version = "v1", kind = "Unit", namespaced, status = "Status")]
#[managed(nats(bucket = "units", history = 0))]
pub struct UnitSpec {
    pub image: String,
}

//# history too long
#[kube(group = "demo.example.com", version = "v1", kind = "Unit", namespaced, status = "Status")]
#[managed(nats(bucket = "units", history = 65))]
pub struct UnitSpec {
    pub image: String,
}

//# too many replicas
#[kube(group = "demo.example.com", version = "v1", kind = "Unit", namespaced, status = "Status")]
#[managed(nats(bucket = "units", replicas = 6))]
pub struct UnitSpec {
    pub image: String,
}

//# age without a unit
#[kube(group = "demo.example.com", version = "v1", kind = "Unit", namespaced, status = "Status")]
#[managed(nats(bucket = "units", max_age = "30"))]
pub struct UnitSpec {
    pub image: String,
}

//# age too short
#[kube(group = "demo.example.com", version = "v1", kind = "Unit", namespaced, status = "Status")]
#[managed(nats(bucket = "units", max_age = "999ms"))]
pub struct UnitSpec {
    pub image: String,
}

//# unknown storage
#[kube(group = "demo.example.com", version = "v1", kind = "Unit", namespaced, status = "Status")]
#[managed(nats(bucket = "units", storage = "disk"))]
pub struct UnitSpec {
    pub image: String,
}

//# unknown key
#[kube(group = "demo.example.com", version = "v1", kind = "Unit", namespaced, status = "Status")]
#[managed(nats(bucket = "units", ttl = "1h"))]
pub struct UnitSpec {
    pub image: String,
}

//# a word instead of a list
#[kube(group = "demo.example.com", version = "v1", kind = "Unit", namespaced, status = "Status")]
#[managed(nats)]
pub struct UnitSpec {
    pub image: String,
}

//# all mistakes at once
#[kube(group = "demo.example.com", version = "v1", kind = "Unit", namespaced, status = "Status")]
#[managed(nats(bucket = "my units", history = 100, replicas = 0, max_age = "soon", storage = "tape"))]
pub struct UnitSpec {
    pub image: String,
}

//# nats on a field
#[kube(group = "demo.example.com", version = "v1", kind = "Unit", namespaced, status = "Status")]
pub struct UnitSpec {
    #[managed(nats(bucket = "units"))]
    pub image: String,
}
