// Names of a kind in URLs and on the command line.

//# plural in upper case
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status", plural = "WebApps")]
pub struct WebAppSpec {
    pub image: String,
}

//# plural with an underscore
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status", plural = "web_apps")]
pub struct WebAppSpec {
    pub image: String,
}

//# plural that starts with a digit
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status", plural = "2apps")]
pub struct WebAppSpec {
    pub image: String,
}

//# plural of more than 63 characters
#[kube(
    group = "demo.example.com",
    version = "v1",
    kind = "WebApp",
    status = "Status",
    plural = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
)]
pub struct WebAppSpec {
    pub image: String,
}

//# singular with a space
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status", singular = "web app")]
pub struct WebAppSpec {
    pub image: String,
}

//# empty singular
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status", singular = "")]
pub struct WebAppSpec {
    pub image: String,
}

//# shortname in upper case
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status", shortname = "WA")]
pub struct WebAppSpec {
    pub image: String,
}

//# shortname twice
#[kube(
    group = "demo.example.com",
    version = "v1",
    kind = "WebApp",
    status = "Status",
    shortname = "wa", shortname = "wa"
)]
pub struct WebAppSpec {
    pub image: String,
}

//# category with a dot
#[kube(
    group = "demo.example.com",
    version = "v1",
    kind = "WebApp",
    status = "Status",
    category = "all.of.them"
)]
pub struct WebAppSpec {
    pub image: String,
}

//# category twice
#[kube(
    group = "demo.example.com",
    version = "v1",
    kind = "WebApp",
    status = "Status",
    category = "all", category = "all"
)]
pub struct WebAppSpec {
    pub image: String,
}

//# annotation key with a space
#[kube(
    group = "demo.example.com",
    version = "v1",
    kind = "WebApp",
    status = "Status",
    annotation("my note", "x")
)]
pub struct WebAppSpec {
    pub image: String,
}

//# label key without a name
#[kube(
    group = "demo.example.com",
    version = "v1",
    kind = "WebApp",
    status = "Status",
    label("example.com/", "x")
)]
pub struct WebAppSpec {
    pub image: String,
}

//# label value with a space
#[kube(
    group = "demo.example.com",
    version = "v1",
    kind = "WebApp",
    status = "Status",
    label("example.com/team", "the team")
)]
pub struct WebAppSpec {
    pub image: String,
}
