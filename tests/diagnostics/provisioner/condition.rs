// Children that are not always there: `when` and `if_api`.

//# when without a question
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(when)]
    snapshot: Snapshot,
}

//# when in parentheses
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(when(|app| app.spec.snapshots))]
    snapshot: Snapshot,
}

//# when that is a number
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(when = 5)]
    snapshot: Snapshot,
}

//# when that is a constant
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(when = true)]
    snapshot: Snapshot,
}

//# when that is an answer
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(when = app.spec.snapshots)]
    snapshot: Snapshot,
}

//# when that is a call
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(when = wants_snapshots())]
    snapshot: Snapshot,
}

//# when without an expression
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(when =)]
    snapshot: Snapshot,
}

//# when that ends early
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource, when = wants(app.spec snapshots))]
    snapshot: Option<Secret>,
}

//# when twice
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(when = wants_snapshots, when = |app| app.spec.snapshots)]
    snapshot: Snapshot,
}

//# closure that takes nothing
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(when = || true)]
    snapshot: Snapshot,
}

//# closure in parentheses that takes nothing
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(when = (|| true))]
    snapshot: Snapshot,
}

//# closure that takes two without from
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(when = |app, plan| plan.sizes.len() == 1)]
    snapshot: Snapshot,
}

//# closure that takes part of from
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
    solve: Solve,
    #[provisioner(when = |app, config| true, from(config, solve))]
    snapshot: Snapshot,
}

//# closure that takes more than from
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
    #[provisioner(when = |app, config, plan| true, from(config))]
    snapshot: Snapshot,
}

//# closure that takes five
#[provisioner(serial, owner = WebApp)]
struct Tree {
    a: A,
    b: B,
    c: C,
    d: D,
    #[provisioner(when = |app, a, b, c, d| true, from(a, b, c, d))]
    snapshot: Snapshot,
}

//# closure that waits
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(when = async |app| true)]
    snapshot: Snapshot,
}

//# when above the struct
#[provisioner(serial, owner = WebApp, when = |app| app.spec.snapshots)]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
}

//# if_api of a provisioner
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(if_api)]
    monitor: Monitor,
}

//# if_api with a value
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource, if_api = "monitoring.coreos.com/v1")]
    monitor: ServiceMonitor,
}

//# if_api with a list
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource, if_api(ServiceMonitor))]
    monitor: ServiceMonitor,
}

//# if_api above the struct
#[provisioner(serial, owner = WebApp, if_api)]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
}
