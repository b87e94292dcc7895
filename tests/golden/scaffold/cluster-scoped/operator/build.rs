//! Leaves the YAML in `deploy/` as the code wants it.

use std::process::ExitCode;

fn main() -> ExitCode {
    opgen::manifest::build_script(web_shop_controller::operator(), "../deploy")
}
