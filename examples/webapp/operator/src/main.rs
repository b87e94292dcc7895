//! The operator of `WebApp`: `run` (what it does unless told otherwise), `manifests`, `tree`, `rbac`, `uninstall`.

opgen::operator!(webapp_controller::operator());
