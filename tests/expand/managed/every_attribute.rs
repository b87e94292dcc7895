#[kube(
    group = "demo.example.com",
    version = "v1",
    kind = "WebApp",
    root = "Application",
    plural = "webapps",
    singular = "webapp",
    shortname = "wa",
    category = "all",
    status = "crate::api::WebAppStatus",
    scale(
        spec_replicas_path = ".spec.replicas",
        status_replicas_path = ".status.replicas",
        label_selector_path = ".status.selector"
    ),
    printcolumn(name = "Ready", type_ = "string", json_path = ".status.conditions[?(@.type==\"Ready\")].status"),
    printcolumn(name = "Replicas", type_ = "integer", json_path = ".spec.replicas", format = "int32", priority = 1),
    selectable = ".spec.image",
    annotation("example.com/note", "any text"),
    label("example.com/team", "web"),
    deprecated = "use v2"
)]
#[managed(finalizer = "demo.example.com/webapp", pause = halted, allow(float))]
#[serde(rename_all = "camelCase")]
struct WebAppSpec {
    image: String,
    replicas: i32,
    halted: Option<bool>,
    load_factor: f64,
    #[schemars(extend("x-kubernetes-list-type" = "set"))]
    hosts: Vec<String>,
    #[x_kube(merge_strategy = ListMerge::Atomic)]
    args: Vec<String>,
    #[managed(allow(list, integer))]
    ports: Vec<u32>,
    #[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
    values: serde_json::Value,
    #[schemars(schema_with = "crate::schema::pair")]
    pair: (i32, i32),
}
