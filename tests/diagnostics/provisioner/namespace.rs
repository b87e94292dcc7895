// The Namespace with which the objects of a node are deleted: `deleted_with`.

//# deleted_with alone, as text, and with a value
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource)]
    namespace: Namespace,
    #[provisioner(resource, deleted_with)]
    config: ConfigMap,
    #[provisioner(resource, deleted_with("namespace"))]
    key: Secret,
    #[provisioner(resource, deleted_with = "namespace")]
    service: Service,
}

//# deleted_with nothing
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource)]
    namespace: Namespace,
    #[provisioner(resource, deleted_with())]
    config: ConfigMap,
}

//# deleted_with two Namespaces
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource)]
    namespace: Namespace,
    #[provisioner(resource)]
    other: Namespace,
    #[provisioner(resource, deleted_with(namespace, other))]
    config: ConfigMap,
}

//# deleted_with an unknown child
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource)]
    namespace: Namespace,
    #[provisioner(resource, deleted_with(namspace))]
    config: ConfigMap,
}

//# deleted_with an input
#[provisioner(serial, owner = WebApp, inputs(namespace: Namespace))]
struct Tree {
    #[provisioner(resource, deleted_with(namespace))]
    config: ConfigMap,
}

//# deleted_with a later child
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource, deleted_with(namespace))]
    config: ConfigMap,
    #[provisioner(resource)]
    namespace: Namespace,
}

//# deleted_with itself
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource, deleted_with(config))]
    config: ConfigMap,
}

//# deleted_with a child of a child
#[provisioner(serial, owner = WebApp)]
struct Tree {
    base: Base,
    #[provisioner(resource, deleted_with(base.namespace))]
    config: ConfigMap,
}

//# deleted_with a provisioner
#[provisioner(serial, owner = WebApp)]
struct Tree {
    base: Base,
    #[provisioner(resource, deleted_with(base))]
    config: ConfigMap,
}

//# deleted_with another kind
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource)]
    base: Option<ConfigMap>,
    #[provisioner(resource, deleted_with(base))]
    config: ConfigMap,
}

//# deleted_with of a remote node
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource)]
    namespace: Namespace,
    #[provisioner(remote, deleted_with(namespace))]
    workload: Workload,
}

//# deleted_with of an application
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource)]
    namespace: Namespace,
    #[provisioner(application(ArgoCd), deleted_with(namespace))]
    shop: Application,
}

//# deleted_with in a concurrent group without an order
#[provisioner(concurrent, owner = WebApp)]
struct Tree {
    #[provisioner(resource)]
    namespace: Namespace,
    #[provisioner(resource)]
    config: ConfigMap,
    #[provisioner(resource, after(config), deleted_with(namespace))]
    key: Secret,
}

//# deleted_with twice
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource)]
    namespace: Namespace,
    #[provisioner(resource, deleted_with(namespace), deleted_with(namespace))]
    config: ConfigMap,
}

//# deleted_with above the struct
#[provisioner(serial, owner = WebApp, deleted_with(namespace))]
struct Tree {
    #[provisioner(resource)]
    namespace: Namespace,
}

//# deleted_with inside of resource
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource)]
    namespace: Namespace,
    #[provisioner(resource(deleted_with(namespace)))]
    config: ConfigMap,
}
