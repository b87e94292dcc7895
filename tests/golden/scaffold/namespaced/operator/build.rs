//! Leaves the YAML in `deploy/` as the code wants it.

use std::process::ExitCode;

fn main() -> ExitCode {
    opgen::manifest::build_script(demo_controller::operator(), "../deploy")
}
