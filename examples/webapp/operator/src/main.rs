//! The operator of `WebApp`: `run` (the default), `manifests`, `tree`, `rbac`, `uninstall`.

opgen::operator!(webapp_controller::operator());
