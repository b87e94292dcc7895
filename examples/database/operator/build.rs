//! Writes the manifests to `deploy/`.

fn main() -> std::process::ExitCode {
    opgen::manifest::build_script(database_controller::operator(), "../deploy")
}
