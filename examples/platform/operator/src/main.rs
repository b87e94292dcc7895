//! The operator of `Workload`: `run` (the default), `manifests`, `tree`, `rbac`, `uninstall`.

opgen::operator!(platform_controller::operator());
