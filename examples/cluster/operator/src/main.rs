//! The operator of clusters: `run` (the default; `run --help` lists its flags), `manifests`, `tree`, `uninstall`.

use cluster_controller::{Options, operator_for};

opgen::operator!(|options: Options| operator_for(options));
