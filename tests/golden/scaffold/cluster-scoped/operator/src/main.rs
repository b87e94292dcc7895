//! The operator of `HTTPShop`: `run` (the default), `manifests`, `tree`, `rbac`, `uninstall`.

opgen::operator!(web_shop_controller::operator());
