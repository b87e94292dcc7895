//! The operator of `Shop`: `run` (the default), `manifests`, `tree`, `uninstall`.

opgen::operator!(shop_controller::operator());
