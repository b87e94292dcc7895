#[provisioner(up = concurrent, down = serial, owner = WebApp)]
pub struct WebAppTree {
    #[provisioner(resource)]
    namespace: Option<Namespace>,
    #[provisioner(resource, after(namespace), deleted_with(namespace))]
    config: ConfigMap,
    #[provisioner(resource(once), from(config), deleted_with(namespace))]
    key: Secret,
    #[provisioner(manifest = "manifests/agent.yaml", after(key), deleted_with(namespace))]
    agent: Manifest,
    #[provisioner(
        each = |app| &app.spec.pools,
        key = |pool| &pool.name,
        after(namespace),
        deleted_with(namespace)
    )]
    pools: PoolTree,
}
