//! `opgen check --against cluster`: a release is compared with what is installed, and with the objects that are stored.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
    sync::Arc,
};

use kube::{Api, api::PostParams};
use libtest_mimic::Trial;
use opgen_tests::{Plane, case_served};
use serde_json::json;

use crate::operator::{
    install::apply_quietly,
    program,
    verbs::{self, SilentServer},
};

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case_served("check_against_a_cluster_names_stored_objects_that_a_release_would_refuse", checked),
        case_served("check_against_a_cluster_that_never_answers_ends_by_its_timeout", silent),
    ]
}

/// The definition of a kind whose `size` has a maximum, and perhaps a second version.
fn definition(maximum: u32, versions: &str) -> String {
    format!(
        "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: crates.checked.example.com}}
spec:
  group: checked.example.com
  scope: Namespaced
  names: {{kind: Crate, plural: crates, singular: crate, listKind: CrateList}}
  versions:
  - name: v1
    served: true
    storage: true
    schema: &schema
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties: {{size: {{type: integer, maximum: {maximum}}}}}
            x-kubernetes-validations: [{{rule: self.size % 2 == 1, message: size must be odd}}]
{versions}"
    )
}

/// The file of the definition in a project.
const RELEASE: &str = "deploy/base/crds/crates.yaml";

/// A project that has no YAML yet.
fn project() -> tempfile::TempDir {
    let project = tempfile::tempdir().unwrap();
    fs::create_dir_all(project.path().join("deploy/base/crds")).unwrap();
    fs::write(project.path().join("opgen.toml"), "[project]\nname = \"demo\"\ngenerated = \"deploy\"\n").unwrap();
    project
}

/// `opgen check --against cluster` for a project, with the kubectl of the plane.
fn command(plane: &Plane, project: &Path, kubeconfig: &Path) -> Command {
    let kubectl = plane.binaries().path("kubectl");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = kubectl.parent().map(ToOwned::to_owned).into_iter().chain(std::env::split_paths(&path));
    let mut command = Command::new(program::own("opgen"));
    command.args(["check", "--against", "cluster"]).arg(project);
    command.env("PATH", std::env::join_paths(folders).unwrap()).env("KUBECONFIG", kubeconfig);
    command
}

async fn checked(plane: Arc<Plane>) {
    let namespace = plane.namespace("checked").await;
    let installed = definition(9, "").replace("self.size % 2 == 1", "self.size > 0");
    apply_quietly(&plane, &installed).await;
    plane.until_established("crates.checked.example.com").await;
    let resource = kube::api::ApiResource {
        group: "checked.example.com".into(),
        version: "v1".into(),
        api_version: "checked.example.com/v1".into(),
        kind: "Crate".into(),
        plural: "crates".into(),
    };
    let api: Api<kube::api::DynamicObject> = Api::namespaced_with(plane.client(), &namespace, &resource);
    for (name, size) in [("small", 3), ("large", 9), ("even", 4)] {
        let object = json!({
            "apiVersion": "checked.example.com/v1", "kind": "Crate", "metadata": {"name": name}, "spec": {"size": size},
        });
        api.create(&PostParams::default(), &serde_json::from_value(object).unwrap()).await.unwrap();
    }
    let project = project();
    let release = project.path().join(RELEASE);
    let check = || {
        let output = command(&plane, project.path(), plane.admin().kubeconfig()).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    // The release that is installed.
    fs::write(&release, &installed).unwrap();
    let (code, stdout, stderr) = check();
    assert_eq!((code, stdout.as_str()), (Some(0), ""), "{stderr}");
    // A smaller maximum and another rule.
    fs::write(&release, definition(6, "")).unwrap();
    let (code, stdout, stderr) = check();
    let invalid: Vec<_> = stdout.lines().filter_map(|line| line.strip_prefix("invalid: ")).collect();
    let expected = [
        format!("Crate {namespace}/even: spec: Invalid value: size must be odd"),
        format!(
            "Crate {namespace}/large: spec.size: Invalid value: 9: spec.size in body should be less than or equal to 6"
        ),
    ];
    assert_eq!((code, invalid), (Some(1), expected.iter().map(String::as_str).collect()), "{stdout}{stderr}");
    assert!(stderr.starts_with("error: 2 fields of stored objects are invalid in the new definitions\n"), "{stderr}");
    // No object is stored in a version that was added and removed.
    let second = "  - name: v1beta1\n    served: true\n    storage: false\n    schema: *schema\n";
    let with_second = definition(9, second).replace("self.size % 2 == 1", "self.size > 0");
    apply_quietly(&plane, &with_second).await;
    fs::write(&release, &installed).unwrap();
    let (code, stdout, stderr) = check();
    let removed = "breaking for clients: crates.checked.example.com .spec.versions[v1beta1]: the version is removed: no object is \
                   stored in it, and requests in this version fail\n";
    assert_eq!((code, stdout.as_str()), (Some(1), removed), "{stderr}");
}

async fn silent(plane: Arc<Plane>) {
    let project = project();
    fs::write(project.path().join(RELEASE), definition(9, "")).unwrap();
    let server = SilentServer::start(&plane).await;
    let mut command = tokio::process::Command::from(command(&plane, project.path(), &server.kubeconfig));
    command.args(["--request-timeout", "1"]).stdout(Stdio::null()).kill_on_drop(true);
    let said = verbs::failed(command).await;
    assert!(said.starts_with("error: failed to run `kubectl get customresourcedefinitions"), "{said}");
    assert!(server.connections() > 0, "kubectl sends no request: {said}");
}
