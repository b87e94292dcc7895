#[provisioner(access(
    Secret: get, list;
    core::v1::Pod: delete, deletecollection;
    Pod/status: patch, update;
    Pod/eviction: create;
    ConfigMap: apply;
    Secret: watch;
))]
pub struct Snapshot;
