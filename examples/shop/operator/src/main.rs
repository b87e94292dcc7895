//! The operator of `Shop`: `run` (what it does unless told otherwise), `manifests`, `tree`, `uninstall`.

opgen::operator!(shop_controller::operator());
