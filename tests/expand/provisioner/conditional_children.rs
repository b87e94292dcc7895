#[provisioner(serial, owner = WebApp)]
pub struct WebAppTree {
    #[provisioner(resource, when = |app| app.spec.public)]
    ingress: Ingress,
    #[provisioner(when = wants_snapshots)]
    snapshot: Snapshot,
    #[provisioner(resource, if_api)]
    monitor: ServiceMonitor,
}
