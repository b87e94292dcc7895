// `kind` and `root` of `#[kube(...)]`.

//# kind in lower case
#[kube(group = "demo.example.com", version = "v1", kind = "webapp", status = "Status")]
pub struct WebAppSpec {
    pub image: String,
}

//# kind with a space
#[kube(group = "demo.example.com", version = "v1", kind = "Web App", status = "Status")]
pub struct WebAppSpec {
    pub image: String,
}

//# kind in snake case
#[kube(group = "demo.example.com", version = "v1", kind = "web_app", status = "Status")]
pub struct WebAppSpec {
    pub image: String,
}

//# kind with a hyphen
#[kube(group = "demo.example.com", version = "v1", kind = "Web-App", status = "Status")]
pub struct WebAppSpec {
    pub image: String,
}

//# kind that starts with a digit
#[kube(group = "demo.example.com", version = "v1", kind = "2Fast", status = "Status")]
pub struct WebAppSpec {
    pub image: String,
}

//# empty kind
#[kube(group = "demo.example.com", version = "v1", kind = "", status = "Status")]
pub struct WebAppSpec {
    pub image: String,
}

//# kind that is a keyword
#[kube(group = "demo.example.com", version = "v1", kind = "Self", status = "Status")]
pub struct WebAppSpec {
    pub image: String,
}

//# kind that hides a name of Rust
#[kube(group = "demo.example.com", version = "v1", kind = "Option", status = "Status")]
pub struct WebAppSpec {
    pub image: String,
}

//# kind that ends like a list
#[kube(group = "demo.example.com", version = "v1", kind = "WebAppList", status = "Status")]
pub struct WebAppSpec {
    pub image: String,
}

//# kind of more than 63 characters
#[kube(
    group = "demo.example.com",
    version = "v1",
    kind = "Waaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    status = "Status"
)]
pub struct WebAppSpec {
    pub image: String,
}

//# root in lower case
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status", root = "web_app")]
pub struct WebAppSpec {
    pub image: String,
}

//# root that hides a name of Rust
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status", root = "Vec")]
pub struct WebAppSpec {
    pub image: String,
}
