// How the objects of a resource are treated, and kinds that are retired.

//# resource with nothing in its parentheses
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource())]
    config: ConfigMap,
}

//# unknown word
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource(ones))]
    config: ConfigMap,
}

//# word of another tool
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource(create_only))]
    config: ConfigMap,
}

//# once with a text
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource(once("helm")))]
    config: ConfigMap,
}

//# once twice
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource(once, once))]
    config: ConfigMap,
}

//# adopt twice
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource(adopt, adopt("helm")))]
    config: ConfigMap,
}

//# adopt with a number
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource(adopt(5)))]
    config: Option<ConfigMap>,
}

//# adopt with a name
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource(adopt(helm)))]
    config: Option<ConfigMap>,
}

//# adopt with a value
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource(adopt = "helm"))]
    config: Option<ConfigMap>,
}

//# adopt from a manager without a name
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource(adopt("")))]
    config: ConfigMap,
}

//# adopt from one manager twice
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource(adopt("helm", "helm")))]
    config: ConfigMap,
}

//# once outside of resource
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource, once)]
    config: ConfigMap,
}

//# delete with an unknown policy
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource(once, delete = "forground"))]
    config: ConfigMap,
    #[provisioner(resource(delete = "orphan"))]
    key: Secret,
    #[provisioner(resource(delete = "Foreground"))]
    service: Service,
}

//# delete without a policy
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource(delete))]
    config: ConfigMap,
}

//# delete with nothing after the equals sign
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource(delete =))]
    config: ConfigMap,
}

//# delete with the policy in parentheses
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource(delete("foreground")))]
    config: ConfigMap,
}

//# delete with a name and with a number
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource(delete = foreground))]
    config: ConfigMap,
    #[provisioner(resource(delete = 5))]
    key: Secret,
}

//# delete twice
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource(delete = "foreground", delete = "background"))]
    config: ConfigMap,
}

//# delete outside of resource
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource, delete = "foreground")]
    config: ConfigMap,
}

//# delete of a manifest
#[provisioner(serial, owner = WebApp)]
struct WebAppTree {
    #[provisioner(manifest = "manifests/agent.yaml", delete = "foreground")]
    agent: Manifest,
}

//# delete of a provisioner
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(delete = "foreground")]
    workload: Workload,
}

//# delete of a retired node
#[provisioner(serial, owner = WebApp, retired(cache: ConfigMap, delete = "foreground"))]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
}

//# delete above the struct
#[provisioner(serial, owner = WebApp, delete = "foreground")]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
}

//# values of options that take none
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource(once = true))]
    config: ConfigMap,
    #[provisioner(resource(pods = "all"))]
    web: Deployment,
    #[provisioner(resource(ones = 5))]
    key: Secret,
}

//# timeout that is no duration
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource(timeout = "10 minutes"))]
    config: ConfigMap,
    #[provisioner(resource(once, timeout = "600"))]
    key: Secret,
    #[provisioner(resource(timeout = ""))]
    service: Service,
    #[provisioner(resource(timeout = "0s"))]
    web: Deployment,
}

//# timeout without a duration
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource(timeout))]
    config: ConfigMap,
}

//# timeout with the duration in parentheses
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource(timeout("10m")))]
    config: ConfigMap,
}

//# timeout with a number
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource(timeout = 600))]
    config: ConfigMap,
}

//# timeout twice
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource(timeout = "5m", timeout = "10m"))]
    config: ConfigMap,
}

//# timeout outside of resource
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource, timeout = "10m")]
    config: ConfigMap,
}

//# timeout of a manifest
#[provisioner(serial, owner = WebApp)]
struct WebAppTree {
    #[provisioner(manifest = "manifests/agent.yaml", timeout = "10m")]
    agent: Manifest,
}

//# timeout above the struct
#[provisioner(serial, owner = WebApp, timeout = "10m")]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
}

//# retired without types
#[provisioner(serial, owner = WebApp, retired(config))]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
}

//# retired with a value
#[provisioner(serial, owner = WebApp, retired = ConfigMap)]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
}

//# retired nothing
#[provisioner(serial, owner = WebApp, retired())]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
}

//# retired and still a child
#[provisioner(serial, owner = WebApp, retired(config: ConfigMap))]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
}

//# retired twice
#[provisioner(serial, owner = WebApp, retired(cache: ConfigMap, cache: ConfigMap))]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
}

//# retired tuple
#[provisioner(serial, owner = WebApp, retired(cache: (ConfigMap, Secret)))]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
}

//# retired of a hand-written node
#[provisioner(access(Secret: get), retired(cache: ConfigMap))]
struct Snapshot;

//# retired on a field
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(retired(cache: ConfigMap))]
    workload: Workload,
}
