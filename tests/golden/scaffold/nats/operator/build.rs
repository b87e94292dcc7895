//! Writes the manifests to `deploy/`.

use std::process::ExitCode;

fn main() -> ExitCode {
    opgen::manifest::build_script(demo_controller::operator(), "../deploy")
}
