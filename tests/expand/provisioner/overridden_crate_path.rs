#[provisioner(serial, owner = WebApp, crate = "my::facade")]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
    gate: Gate,
}
