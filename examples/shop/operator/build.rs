//! Leaves the YAML in `deploy/` as the code says.

fn main() -> std::process::ExitCode {
    opgen::manifest::build_script(shop_controller::operator(), "../deploy")
}
