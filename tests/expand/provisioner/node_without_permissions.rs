#[provisioner(access())]
struct Gate {
    settings: Settings,
}
