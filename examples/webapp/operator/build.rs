//! Writes the manifests to `deploy/`.

fn main() -> std::process::ExitCode {
    opgen::manifest::build_script(webapp_controller::operator(), "../deploy")
}
