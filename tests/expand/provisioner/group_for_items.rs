#[provisioner(serial, owner = Each<WebApp, Pool>)]
pub struct PoolTree {
    #[provisioner(resource)]
    config: ConfigMap,
    machines: Machines,
    #[provisioner(each = |pool| &pool.disks, key = |disk| disk.id)]
    disks: DiskTree,
}
