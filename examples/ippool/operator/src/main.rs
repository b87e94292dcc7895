//! The operator of `IPPool` and its neighbours: `run` (the default; `run --help` lists its flags), `manifests`,
//! `tree`, `uninstall`.

use ippool_controller::{Options, World, operator_for};

opgen::operator!(|options: Options| operator_for(&World::new(options)));
