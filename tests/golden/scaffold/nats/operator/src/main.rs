//! The operator of `Widget`: `run` (the default), `manifests`, `tree`, `rbac`, `uninstall`.

opgen::operator!(demo_controller::operator());
