// What nodes hand to each other: `takes`, `output` and `from`.

//# from itself
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource, from(note))]
    note: ConfigMap,
}

//# from a later one
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource, from(service))]
    note: ConfigMap,
    
    #[provisioner(resource)]
    service: Service,
}

//# from a child that there is not
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
    #[provisioner(resource, from(service))]
    note: ConfigMap,
}

//# from a child that is misspelled
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
    #[provisioner(resource, from(confg))]
    note: ConfigMap,
}

//# from a value that is misspelled
#[provisioner(serial, owner = WebApp, inputs(settings: ConfigMap))]
struct Tree {
    #[provisioner(resource, from(setings))]
    note: ConfigMap,
}

//# from a child with a condition
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource, when = |app| app.spec.public)]
    service: Service,
    #[provisioner(resource, from(service))]
    note: ConfigMap,
}

//# from a child whose kind may be missing
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource, if_api)]
    monitor: ServiceMonitor,
    #[provisioner(resource, from(monitor))]
    note: ConfigMap,
}

//# from a node with a condition
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(when = |app| app.spec.public)]
    solve: Solve,
    #[provisioner(resource, from(solve))]
    note: ConfigMap,
}

//# from a group with a condition
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(when = |app| app.spec.public)]
    workload: Workload,
    #[provisioner(resource, from(workload.service))]
    note: ConfigMap,
}

//# from the items of a list
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(each = |app| &app.spec.pools, key = |pool| &pool.name)]
    pools: Pools,
    #[provisioner(resource, from(pools))]
    note: ConfigMap,
}

//# from a child of the items of a list
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(each = |app| &app.spec.pools, key = |pool| &pool.name)]
    pools: Pools,
    #[provisioner(resource, from(pools.service))]
    note: ConfigMap,
}

//# from too deep
#[provisioner(serial, owner = WebApp)]
struct Tree {
    workload: Workload,
    #[provisioner(resource, from(workload.front.service))]
    note: ConfigMap,
}

//# from a child of a resource
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
    #[provisioner(resource, from(config.data))]
    note: ConfigMap,
}

//# from a child of a value
#[provisioner(serial, owner = WebApp, inputs(settings: ConfigMap))]
struct Tree {
    #[provisioner(resource, from(settings.data))]
    note: ConfigMap,
}

//# from a child named like a keyword of paths
#[provisioner(serial, owner = WebApp)]
struct Tree {
    workload: Workload,
    #[provisioner(resource, from(workload.self))]
    note: ConfigMap,
}

//# from one child twice
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
    #[provisioner(resource, from(config, config))]
    note: ConfigMap,
}

//# from one child of a child twice
#[provisioner(serial, owner = WebApp)]
struct Tree {
    workload: Workload,
    #[provisioner(resource, from(workload.r#type, workload.type))]
    note: ConfigMap,
}

//# from a keyword that is no child
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
    #[provisioner(resource, from(type))]
    note: ConfigMap,
}

//# from nothing
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource, from())]
    note: ConfigMap,
}

//# from without parentheses
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
    #[provisioner(resource, from = config)]
    note: ConfigMap,
}

//# from a text
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
    #[provisioner(resource, from("config"))]
    note: Option<ConfigMap>,
}

//# from with a type
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
    #[provisioner(resource, from(config: ConfigMap))]
    note: Option<ConfigMap>,
}

//# from above the struct
#[provisioner(serial, owner = WebApp, from(config))]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
}

//# takes without types
#[provisioner(serial, owner = WebApp, inputs(settings))]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
}

//# takes with a value
#[provisioner(serial, owner = WebApp, takes = ConfigMap)]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
}

//# takes nothing
#[provisioner(serial, owner = WebApp, inputs())]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
}

//# takes one name twice
#[provisioner(serial, owner = WebApp, inputs(settings: ConfigMap, settings: Secret))]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
}

//# takes one name twice by hand
#[provisioner(access(Secret: get), inputs(settings: ConfigMap, settings: Secret))]
struct Snapshot;

//# takes what a child is named
#[provisioner(serial, owner = WebApp, inputs(config: ConfigMap))]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
}

//# takes twice
#[provisioner(serial, owner = WebApp, inputs(settings: ConfigMap), inputs(key: Secret))]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
}

//# takes on a field
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(inputs(settings: ConfigMap))]
    workload: Workload,
}

//# gives of a group
#[provisioner(serial, owner = WebApp, output = Plan)]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
}

//# gives without a type
#[provisioner(access(), gives)]
struct Solve;

//# gives in quotes
#[provisioner(access(), output = "Plan")]
struct Solve;

//# gives on a field
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(output = Plan)]
    solve: Solve,
}
