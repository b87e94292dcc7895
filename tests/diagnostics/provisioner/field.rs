// `#[provisioner(...)]` on a field, and its type.

//# key misspelled
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resorce)]
    config: ConfigMap,
}

//# resource with a value
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource = config)]
    config: ConfigMap,
}

//# resource with a list
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource(config))]
    config: ConfigMap,
}

//# resource twice
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource, resource)]
    config: ConfigMap,
}

//# empty attribute
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner()]
    workload: Workload,
}

//# each in parentheses
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(each(|app| &app.spec.pools, key = |pool| &pool.name))]
    workload: Workload,
}

//# after with a value
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(after = config)]
    workload: Workload,
}

//# if_api with a value
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(if_api = "example.com/v1")]
    workload: Workload,
}

//# remote is not supported yet
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(remote)]
    workload: Workload,
}

//# application is not supported yet
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(application)]
    workload: Workload,
}

//# manifest is not supported yet
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(manifest = "chart.yaml")]
    workload: Workload,
}

//# serial on a field
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(serial)]
    workload: Workload,
}

//# access on a field
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(access(Secret: get))]
    workload: Workload,
}

//# owner on a field
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(owner = WebApp)]
    workload: Workload,
}

//# option of a list
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource)]
    config: Option<Vec<ConfigMap>>,
}

//# map of resources
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource)]
    configs: BTreeMap<String, ConfigMap>,
}

//# boxed resource
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource)]
    config: Box<ConfigMap>,
}

//# optional provisioner
#[provisioner(serial, owner = WebApp)]
struct Tree {
    workload: Option<Workload>,
}

//# list of provisioners
#[provisioner(serial, owner = WebApp)]
struct Tree {
    workloads: Vec<Workload>,
}

//# borrowed resource
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource)]
    config: &'static ConfigMap,
}

//# tuple of resources
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource)]
    both: (ConfigMap, Secret),
}

//# resource that hides what every node does
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource)]
    provision: ConfigMap,
}

//# resource of a hand-written node
#[provisioner(access(Secret: get))]
struct Snapshot {
    #[provisioner(resource)]
    config: ConfigMap,
}

//# role without the rights that it hands on
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource)]
    role: Role,
}

//# optional cluster role without the rights that it hands on
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource(once))]
    role: Option<rbac::v1::ClusterRole>,
}

//# roles without the rights that they hand on
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource)]
    roles: Vec<Role>,
}

//# hands_on without a list
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource(hands_on))]
    role: Role,
}

//# hands_on with nothing
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource(hands_on()))]
    role: Role,
}

//# hands_on with a mistake in a verb
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource(once, hands_on(ConfigMap: get, lst), adopt("helm")))]
    role: Role,
}

//# hands_on in a namespace
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource(hands_on(ConfigMap in "kube-system": get)))]
    role: Role,
}

//# path of the server in a role of one namespace
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource(hands_on("/metrics": get)))]
    role: Role,
}

//# raw client in a role
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource(hands_on(raw(ConfigMap: get))))]
    role: Role,
}
