// Columns of `kubectl get`.

//# column of an unknown type
#[kube(
    group = "demo.example.com",
    version = "v1",
    kind = "WebApp",
    status = "Status",
    printcolumn(name = "Image", type_ = "wat", json_path = ".spec.image")
)]
pub struct WebAppSpec {
    pub image: String,
}

//# column of a Rust type
#[kube(
    group = "demo.example.com",
    version = "v1",
    kind = "WebApp",
    status = "Status",
    printcolumn(name = "Image", type_ = "i32", json_path = ".spec.image")
)]
pub struct WebAppSpec {
    pub image: String,
}

//# column with an unknown format
#[kube(
    group = "demo.example.com",
    version = "v1",
    kind = "WebApp",
    status = "Status",
    printcolumn(name = "Image", type_ = "string", json_path = ".spec.image", format = "int128")
)]
pub struct WebAppSpec {
    pub image: String,
}

//# column without a name
#[kube(
    group = "demo.example.com",
    version = "v1",
    kind = "WebApp",
    status = "Status",
    printcolumn(name = "", type_ = "string", json_path = ".spec.image")
)]
pub struct WebAppSpec {
    pub image: String,
}

//# column twice
#[kube(
    group = "demo.example.com",
    version = "v1",
    kind = "WebApp",
    status = "Status",
    printcolumn(name = "Image", type_ = "string", json_path = ".spec.image"), printcolumn(name = "Image", type_ = "string", json_path = ".spec.image")
)]
pub struct WebAppSpec {
    pub image: String,
}

//# column with a negative priority
#[kube(
    group = "demo.example.com",
    version = "v1",
    kind = "WebApp",
    status = "Status",
    printcolumn(name = "Image", type_ = "string", json_path = ".spec.image", priority = -1)
)]
pub struct WebAppSpec {
    pub image: String,
}

//# column path without a dot
#[kube(
    group = "demo.example.com",
    version = "v1",
    kind = "WebApp",
    status = "Status",
    printcolumn(name = "Image", type_ = "string", json_path = "spec.image")
)]
pub struct WebAppSpec {
    pub image: String,
}

//# column path with an open bracket
#[kube(
    group = "demo.example.com",
    version = "v1",
    kind = "WebApp",
    status = "Status",
    printcolumn(name = "Image", type_ = "string", json_path = ".status.conditions[")
)]
pub struct WebAppSpec {
    pub image: String,
}

//# column path with empty brackets
#[kube(
    group = "demo.example.com",
    version = "v1",
    kind = "WebApp",
    status = "Status",
    printcolumn(name = "Image", type_ = "string", json_path = ".status.conditions[]")
)]
pub struct WebAppSpec {
    pub image: String,
}

//# column path with an open quote
#[kube(
    group = "demo.example.com",
    version = "v1",
    kind = "WebApp",
    status = "Status",
    printcolumn(name = "Image", type_ = "string", json_path = ".status.conditions[?(@.type==\"Ready)].status")
)]
pub struct WebAppSpec {
    pub image: String,
}

//# column path that ends in a dot
#[kube(
    group = "demo.example.com",
    version = "v1",
    kind = "WebApp",
    status = "Status",
    printcolumn(name = "Image", type_ = "string", json_path = ".spec.")
)]
pub struct WebAppSpec {
    pub image: String,
}

//# column path with an empty segment
#[kube(
    group = "demo.example.com",
    version = "v1",
    kind = "WebApp",
    status = "Status",
    printcolumn(name = "Image", type_ = "string", json_path = ".spec..image")
)]
pub struct WebAppSpec {
    pub image: String,
}

//# column path with a space
#[kube(
    group = "demo.example.com",
    version = "v1",
    kind = "WebApp",
    status = "Status",
    printcolumn(name = "Image", type_ = "string", json_path = ".spec.my image")
)]
pub struct WebAppSpec {
    pub image: String,
}

//# empty column path
#[kube(
    group = "demo.example.com",
    version = "v1",
    kind = "WebApp",
    status = "Status",
    printcolumn(name = "Image", type_ = "string", json_path = "")
)]
pub struct WebAppSpec {
    pub image: String,
}

//# column path to no field
#[kube(
    group = "demo.example.com",
    version = "v1",
    kind = "WebApp",
    status = "Status",
    printcolumn(name = "Image", type_ = "string", json_path = ".spec.imgae")
)]
pub struct WebAppSpec {
    pub image: String,
}

//# column path to no part of an object
#[kube(
    group = "demo.example.com",
    version = "v1",
    kind = "WebApp",
    status = "Status",
    printcolumn(name = "Image", type_ = "string", json_path = ".image")
)]
pub struct WebAppSpec {
    pub image: String,
}
