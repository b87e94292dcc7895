//! The operator of `WebApp`: `run` (what it does unless told otherwise), `manifests`, `tree`, `uninstall`.

opgen::operator!(webapp_controller::operator());
