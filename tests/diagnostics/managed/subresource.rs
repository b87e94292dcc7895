// `scale` and `selectable`.

//# scale path without a dot
#[kube(
    group = "demo.example.com",
    version = "v1",
    kind = "WebApp",
    status = "Status",
    scale(spec_replicas_path = "spec.replicas", status_replicas_path = ".status.replicas")
)]
pub struct WebAppSpec {
    pub replicas: i32,
}

//# scale path with brackets
#[kube(
    group = "demo.example.com",
    version = "v1",
    kind = "WebApp",
    status = "Status",
    scale(spec_replicas_path = ".spec.pools[0].replicas", status_replicas_path = ".status.replicas")
)]
pub struct WebAppSpec {
    pub replicas: i32,
}

//# scale reads its count from the status
#[kube(
    group = "demo.example.com",
    version = "v1",
    kind = "WebApp",
    status = "Status",
    scale(spec_replicas_path = ".status.replicas", status_replicas_path = ".status.replicas")
)]
pub struct WebAppSpec {
    pub replicas: i32,
}

//# scale reports from the spec
#[kube(
    group = "demo.example.com",
    version = "v1",
    kind = "WebApp",
    status = "Status",
    scale(spec_replicas_path = ".spec.replicas", status_replicas_path = ".spec.replicas")
)]
pub struct WebAppSpec {
    pub replicas: i32,
}

//# scale path to no field
#[kube(
    group = "demo.example.com",
    version = "v1",
    kind = "WebApp",
    status = "Status",
    scale(spec_replicas_path = ".spec.replcas", status_replicas_path = ".status.replicas")
)]
pub struct WebAppSpec {
    pub replicas: i32,
}

//# scale path to the whole spec
#[kube(
    group = "demo.example.com",
    version = "v1",
    kind = "WebApp",
    status = "Status",
    scale(spec_replicas_path = ".spec", status_replicas_path = ".status.replicas")
)]
pub struct WebAppSpec {
    pub replicas: i32,
}

//# scale selector in the metadata
#[kube(
    group = "demo.example.com",
    version = "v1",
    kind = "WebApp",
    status = "Status",
    scale(spec_replicas_path = ".spec.replicas", status_replicas_path = ".status.replicas", label_selector_path = ".metadata.labels")
)]
pub struct WebAppSpec {
    pub replicas: i32,
}

//# scale reads count and selector from one field
#[kube(
    group = "demo.example.com",
    version = "v1",
    kind = "WebApp",
    status = "Status",
    scale(spec_replicas_path = ".spec.replicas", status_replicas_path = ".status.replicas", label_selector_path = ".spec.replicas")
)]
pub struct WebAppSpec {
    pub replicas: i32,
}

//# selectable field in the metadata
#[kube(
    group = "demo.example.com",
    version = "v1",
    kind = "WebApp",
    status = "Status",
    selectable = ".metadata.name"
)]
pub struct WebAppSpec {
    pub image: String,
}

//# selectable field with brackets
#[kube(
    group = "demo.example.com",
    version = "v1",
    kind = "WebApp",
    status = "Status",
    selectable = ".spec.images[0]"
)]
pub struct WebAppSpec {
    pub image: String,
}

//# selectable field twice
#[kube(
    group = "demo.example.com",
    version = "v1",
    kind = "WebApp",
    status = "Status",
    selectable = ".spec.image", selectable = ".spec.image"
)]
pub struct WebAppSpec {
    pub image: String,
}

//# selectable field that does not exist
#[kube(
    group = "demo.example.com",
    version = "v1",
    kind = "WebApp",
    status = "Status",
    selectable = ".spec.color"
)]
pub struct WebAppSpec {
    pub image: String,
}

//# nine selectable fields
#[kube(
    group = "demo.example.com",
    version = "v1",
    kind = "WebApp",
    status = "Status",
    selectable = ".status.f0", selectable = ".status.f1", selectable = ".status.f2", selectable = ".status.f3", selectable = ".status.f4", selectable = ".status.f5", selectable = ".status.f6", selectable = ".status.f7", selectable = ".status.f8"
)]
pub struct WebAppSpec {
    pub image: String,
}
