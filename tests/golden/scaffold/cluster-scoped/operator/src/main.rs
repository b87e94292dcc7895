//! The operator of `HTTPShop`: `run` (what it does unless told otherwise), `manifests`, `tree`, `rbac`, `uninstall`.

opgen::operator!(web_shop_controller::operator());
