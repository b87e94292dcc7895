#[provisioner(access(), takes(settings: ConfigMap, key: Option<Secret>), gives = Plan)]
pub struct Solve;
