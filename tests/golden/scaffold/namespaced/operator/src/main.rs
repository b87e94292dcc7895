//! The operator of `Widget`: `run` (what it does unless told otherwise), `manifests`, `tree`, `rbac`, `uninstall`.

opgen::operator!(demo_controller::operator());
