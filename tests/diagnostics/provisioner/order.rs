// The order of children: `up`, `down` and `after`.

//# up without down
#[provisioner(up = concurrent, owner = WebApp)]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
}

//# down without up
#[provisioner(down = serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
}

//# up in the words of another tool
#[provisioner(up = parallel, down = serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
}

//# up in quotes
#[provisioner(up = "serial", down = serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
}

//# up without an order
#[provisioner(up, down = serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
}

//# down with a list
#[provisioner(up = serial, down(serial), owner = WebApp)]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
}

//# up beside serial
#[provisioner(serial, up = concurrent, owner = WebApp)]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
}

//# up and down beside serial
#[provisioner(serial, up = concurrent, down = serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
}

//# up and down beside access
#[provisioner(up = concurrent, down = serial, access(Secret: get))]
struct Snapshot;

//# up twice
#[provisioner(up = concurrent, up = serial, down = serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
}

//# up on a field
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(up = concurrent)]
    workload: Workload,
}

//# down on a field
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(down = serial)]
    workload: Workload,
}

//# after in a serial group
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
    #[provisioner(after(config))]
    workload: Workload,
}

//# after in a group that is serial on the way up
#[provisioner(up = serial, down = concurrent, owner = WebApp)]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
    #[provisioner(after(config))]
    workload: Workload,
}

//# after itself
#[provisioner(concurrent, owner = WebApp)]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
    #[provisioner(after(workload))]
    workload: Workload,
}

//# after a later one
#[provisioner(concurrent, owner = WebApp)]
struct Tree {
    #[provisioner(after(workload))]
    warmup: Warmup,
    workload: Workload,
}

//# after a child that there is not
#[provisioner(concurrent, owner = WebApp)]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
    warmup: Warmup,
    #[provisioner(after(migration))]
    workload: Workload,
}

//# after a child that is misspelled
#[provisioner(concurrent, owner = WebApp)]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
    #[provisioner(after(confg))]
    workload: Workload,
}

//# after with nothing before it
#[provisioner(concurrent, owner = WebApp)]
struct Tree {
    #[provisioner(after(config))]
    workload: Workload,
}

//# after a child of a child
#[provisioner(concurrent, owner = WebApp)]
struct Tree {
    workload: Workload,
    #[provisioner(after(workload.service))]
    warmup: Warmup,
}

//# after one child twice
#[provisioner(concurrent, owner = WebApp)]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
    #[provisioner(after(config, config))]
    workload: Workload,
}

//# after nothing
#[provisioner(concurrent, owner = WebApp)]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
    #[provisioner(after())]
    workload: Workload,
}

//# after without parentheses
#[provisioner(concurrent, owner = WebApp)]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
    #[provisioner(after)]
    workload: Workload,
}

//# after with a path of types
#[provisioner(concurrent, owner = WebApp)]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
    #[provisioner(resource, after(workload::service))]
    note: Option<ConfigMap>,
}

//# after twice
#[provisioner(concurrent, owner = WebApp)]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
    warmup: Warmup,
    #[provisioner(after(config), after(warmup))]
    workload: Workload,
}

//# after above the struct
#[provisioner(concurrent, owner = WebApp, after(config))]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
}
