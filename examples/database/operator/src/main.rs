//! The operator of `Database`: `run` (the default), `manifests`, `tree`, `rbac`, `uninstall`.

opgen::operator!(database_controller::operator());
