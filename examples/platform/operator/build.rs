//! Writes the manifests to `deploy/`.

fn main() -> std::process::ExitCode {
    opgen::manifest::build_script(platform_controller::operator(), "../deploy")
}
