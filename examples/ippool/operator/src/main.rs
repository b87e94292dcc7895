//! The operator of `IPPool` and its neighbours: `run` (what it does unless told otherwise; its flags are in `run --help`), `manifests`,
//! `tree`, `uninstall`.

use ippool_controller::{Options, World, operator_for};

opgen::operator!(|options: Options| operator_for(&World::new(options)));
