//! Leaves the YAML in `deploy/` as the code says.

fn main() -> std::process::ExitCode {
    opgen::manifest::build_script(ippool_controller::operator(), "../deploy")
}
