// `#[managed(...)]` above the struct.

//# finalizer without a domain
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
#[managed(finalizer = "webapp")]
pub struct WebAppSpec {
    pub image: String,
}

//# finalizer with a domain without a dot
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
#[managed(finalizer = "demo/webapp")]
pub struct WebAppSpec {
    pub image: String,
}

//# finalizer without a name
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
#[managed(finalizer = "demo.example.com/")]
pub struct WebAppSpec {
    pub image: String,
}

//# finalizer with two slashes
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
#[managed(finalizer = "demo.example.com/a/b")]
pub struct WebAppSpec {
    pub image: String,
}

//# finalizer with a name too long
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
#[managed(finalizer = "demo.example.com/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")]
pub struct WebAppSpec {
    pub image: String,
}

//# finalizer in the domain of Kubernetes
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
#[managed(finalizer = "kubernetes.io/webapp")]
pub struct WebAppSpec {
    pub image: String,
}

//# finalizer that is a number
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
#[managed(finalizer = 5)]
pub struct WebAppSpec {
    pub image: String,
}

//# finalizer twice
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
#[managed(finalizer = "a.b/c", finalizer = "a.b/d")]
pub struct WebAppSpec {
    pub image: String,
}

//# pause names no field
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
#[managed(pause = halted)]
pub struct WebAppSpec {
    pub image: String,
}

//# pause names a text
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
#[managed(pause = image)]
pub struct WebAppSpec {
    pub image: String,
}

//# key misspelled
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
#[managed(finaliser = "a.b/c")]
pub struct WebAppSpec {
    pub image: String,
}

//# unknown key
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
#[managed(conditions = "Ready")]
pub struct WebAppSpec {
    pub image: String,
}

//# unknown warning allowed
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
#[managed(allow(floats))]
pub struct WebAppSpec {
    pub image: String,
}

//# allow without a list
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
#[managed(allow = float)]
pub struct WebAppSpec {
    pub image: String,
}

//# empty attribute
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
#[managed()]
pub struct WebAppSpec {
    pub image: String,
}

//# key without a value
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
#[managed(finalizer)]
pub struct WebAppSpec {
    pub image: String,
}

//# reference above the struct
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
#[managed(reference = Network)]
pub struct WebAppSpec {
    pub image: String,
}

//# syntax error in the attribute
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
#[managed(finalizer = )]
pub struct WebAppSpec {
    pub image: String,
}

//# grant above the struct
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
#[managed(grant)]
pub struct WebAppSpec {
    pub image: String,
}
