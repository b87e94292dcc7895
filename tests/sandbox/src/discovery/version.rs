//! Serves `/version` and defines the Kubernetes release that the server emulates.

use serde_json::json;

/// The Kubernetes release that the server emulates.
pub(super) const RELEASE: &str = "v1.36.3";

/// Returns the `version.Info` document.
pub(super) fn version() -> serde_json::Value {
    json!({
        "major": "1", "minor": "36", "emulationMajor": "1", "emulationMinor": "36", "minCompatibilityMajor": "1",
        "minCompatibilityMinor": "35", "gitVersion": RELEASE, "gitCommit": "", "gitTreeState": "",
        "buildDate": "1970-01-01T00:00:00Z", "goVersion": "", "compiler": "rustc",
        "platform": format!("{}/{}", std::env::consts::OS, architecture()),
    })
}

/// Returns the CPU architecture under Go's name (`GOARCH`).
fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}
