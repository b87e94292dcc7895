//! Writes the manifests to `deploy/`.

fn main() -> std::process::ExitCode {
    opgen::manifest::build_script(cluster_controller::operator(), "../deploy")
}
