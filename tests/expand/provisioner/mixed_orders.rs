#[provisioner(up = concurrent, down = serial, owner = WebApp)]
pub struct WebAppTree {
    network: Network,
    #[provisioner(after(network))]
    storage: Storage,
    workload: Workload,
}
