// `#[provisioner(...)]` above the struct.

//# attribute is missing
struct Tree {
    workload: Workload,
}

//# attribute is empty
#[provisioner()]
struct Tree {
    workload: Workload,
}

//# attribute without a list
#[provisioner = "serial"]
struct Tree {
    workload: Workload,
}

//# owner is missing
#[provisioner(serial)]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
}

//# owner without a type
#[provisioner(serial, owner)]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
}

//# owner in quotes
#[provisioner(serial, owner = "WebApp")]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
}

//# owner twice
#[provisioner(serial, owner = WebApp, owner = Network)]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
}

//# serial and concurrent
#[provisioner(serial, concurrent, owner = WebApp)]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
}

//# serial and access
#[provisioner(serial, owner = WebApp, access(Secret: get))]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
}

//# kind of group misspelled
#[provisioner(sereal, owner = WebApp)]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
}

//# kind of group in the words of another tool
#[provisioner(parallel, owner = WebApp)]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
}

//# serial with a value
#[provisioner(serial = true, owner = WebApp)]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
}

//# serial with a list
#[provisioner(serial(config), owner = WebApp)]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
}

//# only an owner
#[provisioner(owner = WebApp)]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
}

//# comma is missing
#[provisioner(serial owner = WebApp)]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
}

//# resource above the struct
#[provisioner(resource)]
struct Tree {
    workload: Workload,
}

//# remote above the struct
#[provisioner(remote, owner = WebApp)]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
}

//# owner of a hand-written node
#[provisioner(access(Secret: get), owner = WebApp)]
struct Snapshot;

//# crate without a path
#[provisioner(access(Secret: get), crate = 5)]
struct Snapshot;
