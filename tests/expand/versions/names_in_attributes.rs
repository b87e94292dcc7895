#[versions(v1beta1, v1)]
mod pools {
    #[derive(CustomResource, opgen::Managed, Clone)]
    #[kube(group = "demo.example.com", kind = "Pool", root = "PoolResource", status = "PoolStatus")]
    #[kube(
        printcolumn(name = "Nodes", type_ = "integer", json_path = ".spec.nodeCount"),
        printcolumn(name = "Port", type_ = "integer", json_path = ".spec.network.ports.sqlPort"),
        printcolumn(name = "Ready", type_ = "integer", json_path = ".status.readyNodes"),
        printcolumn(name = "Mode", type_ = "string", json_path = ".spec.mode")
    )]
    #[kube(scale(spec_replicas_path = ".spec.nodeCount", status_replicas_path = ".status.readyNodes"))]
    #[managed(allow(list))]
    #[serde(rename_all = "camelCase")]
    #[valid(one_of(image, source), at_most_one_of(image, mirror))]
    pub struct PoolSpec {
        #[version(renamed(v1, from = size))]
        #[valid(at_most(max_nodes), immutable)]
        pub node_count: i32,
        #[version(added(v1, default = 9))]
        pub max_nodes: i32,
        #[version(renamed(v1, from = container_image))]
        pub image: Option<String>,
        pub source: Option<String>,
        #[version(added(v1))]
        pub mirror: Option<String>,
        #[version(added(v1, default = Mode::Shared))]
        pub mode: Mode,
        #[valid(required_if(mode = "Reserved"))]
        #[managed(reference = Zone)]
        pub zone: Option<String>,
        #[valid(forbidden_if(mode = "Shared"))]
        pub rack: Option<String>,
        #[valid(unique(name), unique(label, message = "labels must differ"))]
        pub nodes: Vec<Node>,
        pub network: Network,
        #[version(renamed(v1, from = old_name))]
        #[serde(rename = "newName", default)]
        pub name: String,
    }

    pub struct PoolStatus {
        #[version(renamed(v1, from = ready))]
        #[serde(rename = "readyNodes")]
        pub ready_nodes: Option<i32>,
    }

    #[derive(Validated)]
    #[valid(crate = "opgen")]
    pub struct Node {
        #[version(renamed(v1, from = id))]
        #[valid(immutable)]
        pub name: String,
        #[version(added(v1))]
        pub label: Option<String>,
    }

    pub enum Mode {
        Shared,
        #[version(renamed(v1, from = Dedicated))]
        Reserved,
    }

    pub struct Network {
        pub ports: Option<Ports>,
    }

    #[serde(rename_all = "camelCase")]
    pub struct Ports {
        #[version(renamed(v1, from = postgres))]
        pub sql_port: Option<u16>,
    }
}
