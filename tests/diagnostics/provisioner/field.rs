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

//# remote with a value
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(remote = "kubeconfig")]
    workload: Workload,
    #[provisioner(remote(kubeconfig))]
    other: Workload,
}

//# remote with options
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(remote())]
    workload: Workload,
    #[provisioner(remote(background, background))]
    other: Workload,
    #[provisioner(remote(background = true))]
    third: Workload,
}

//# remote and another node
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(remote, resource)]
    config: ConfigMap,
    #[provisioner(remote, application(ArgoCd))]
    agent: Application,
}

//# remote for each
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(remote, each = |app| app.pools, key = |pool| pool.name)]
    pools: Pools,
}

//# remote whose children are read
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(remote)]
    workload: Workload,
    #[provisioner(resource, from(workload.service))]
    config: ConfigMap,
}

//# remote that hides a function of every node
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(remote)]
    provision: Workload,
}

//# application without a driver
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(application)]
    agent: Application,
    #[provisioner(application())]
    other: Application,
    #[provisioner(application("argocd"))]
    third: Application,
}

//# application of another type
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(application(ArgoCd))]
    agent: HelmRelease,
}

//# application and another node
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource, application(ArgoCd))]
    agent: ConfigMap,
    #[provisioner(manifest(ConfigMap), application(ArgoCd))]
    other: Manifest,
}

//# application for each
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(application(ArgoCd), each = |app| app.pools, key = |pool| pool.name)]
    agent: Application,
}

//# application that is read
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(application(ArgoCd))]
    agent: Application,
    #[provisioner(resource, from(agent))]
    config: ConfigMap,
}

//# application with an option of a resource
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(application(ArgoCd), once)]
    agent: Application,
}

//# manifest of nothing
#[provisioner(serial, owner = WebApp)]
struct WebAppTree {
    #[provisioner(manifest)]
    agent: Manifest,
    #[provisioner(manifest())]
    proxy: Manifest,
}

//# manifest outside of the crate
#[provisioner(serial, owner = WebApp)]
struct WebAppTree {
    #[provisioner(manifest = "/etc/agent.yaml")]
    agent: Manifest,
}

//# manifest and resource
#[provisioner(serial, owner = WebApp)]
struct WebAppTree {
    #[provisioner(resource, manifest = "manifests/agent.yaml")]
    agent: ConfigMap,
}

//# manifest for each
#[provisioner(serial, owner = WebApp)]
struct WebAppTree {
    #[provisioner(manifest(ConfigMap), each = |app| app.pools, key = |pool| pool.name)]
    agent: Manifest,
}

//# file that is to take values, and manifest that is read
#[provisioner(serial, owner = WebApp)]
struct WebAppTree {
    #[provisioner(resource)]
    config: ConfigMap,
    #[provisioner(manifest = "manifests/agent.yaml", from(config))]
    agent: Manifest,
    #[provisioner(resource, from(agent))]
    note: ConfigMap,
}

//# manifest on the struct
#[provisioner(serial, owner = WebApp, manifest = "manifests/agent.yaml")]
struct WebAppTree {}

//# manifest that is not text
#[provisioner(serial, owner = WebApp)]
struct WebAppTree {
    #[provisioner(manifest = AGENT)]
    agent: Manifest,
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

//# grants without a list
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource(grants))]
    role: Role,
}

//# grants with nothing
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource(grants()))]
    role: Role,
}

//# grants with a mistake in a verb
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource(once, grants(ConfigMap: get, lst), adopt("helm")))]
    role: Role,
}

//# grants in a namespace
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource(grants(ConfigMap in "kube-system": get)))]
    role: Role,
}

//# path of the server in a role of one namespace
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource(grants("/metrics": get)))]
    role: Role,
}

//# condition of a field of a hand-written node
#[provisioner(access(Secret: get))]
struct Snapshot {
    #[provisioner(when = |app| true)]
    of: ConfigMap,
}

//# source of a field of a hand-written node
#[provisioner(access(Secret: get))]
struct Snapshot {
    #[provisioner(from(config))]
    of: ConfigMap,
}

//# resource named like the way down
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource)]
    deprovision: ConfigMap,
}

//# keyword as a name twice
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource)]
    r#type: ConfigMap,
    #[provisioner(resource, from(type, r#type))]
    note: ConfigMap,
}

//# words of a resource that take nothing
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource(pods("web"), once("key")))]
    config: ConfigMap,
}

//# optional resource with a value
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource = true)]
    config: Option<ConfigMap>,
}

//# three mistakes in one field
#[provisioner(concurrent, owner = WebApp)]
struct Tree {
    #[provisioner(resource, when = 5, after(confg), from(servce))]
    config: ConfigMap,
}

//# raw client in a role
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource(grants(raw(ConfigMap: get))))]
    role: Role,
}

//# grants of what is no right
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource(grants(ConfigMap: reference)))]
    role: Role,
}
