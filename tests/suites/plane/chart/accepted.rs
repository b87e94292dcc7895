//! Applies rendered charts and kustomizations to an API server, as a dry run.

use std::{fs, sync::Arc};

use opgen_tests::{Plane, kubectl};

use super::rendered::{EXAMPLES, documents, helm, kustomize, path};

/// The values that turn on what is off by default.
const ALL: &str = "monitoring.serviceMonitor.enabled=true,monitoring.prometheusRule.enabled=true,\
    monitoring.dashboard.enabled=true,monitoring.metricsReader[0].kind=ServiceAccount,monitoring.metricsReader[0].name=p,\
    monitoring.metricsReader[0].namespace=monitoring,networkPolicy.enabled=true,finalizerPolicy.enabled=true,\
    networkPolicy.metricsFrom[0].podSelector.matchLabels.app=prometheus,networkPolicy.egress[0].ports[0].port=5432,\
    config.namespaces={a,b},config.client.pageSize=1000000,config.log.filter=debug,replicas=2,\
    priorityClassName=system-cluster-critical,nodeSelector.disk=ssd,tolerations[0].operator=Exists,args[0]=--page-size=7,\
    env[0].name=REGION,env[0].value=north,podLabels.team=web,podAnnotations.note=x,imagePullSecrets[0].name=registry,\
    affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].key=disk,\
    affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].operator=Exists,\
    serviceAccount.annotations.role=x,volumes[0].name=certs,volumes[0].secret.secretName=certs,\
    volumeMounts[0].name=certs,volumeMounts[0].mountPath=/certs,config.metrics.certPath=/certs";

/// The value of an operator with webhooks that is off by default.
const CERTIFICATES: &str = "webhooks.certManager=true";

/// The values that turn off what is on by default.
const LEAST: &str = "crds.install=false,rbac.aggregate=false,podDisruptionBudget.enabled=false,topologySpread.enabled=false,\
    config.metrics.address=0,config.probes.address=0,serviceAccount.create=false,serviceAccount.name=own";

pub(super) async fn dry_run(plane: Arc<Plane>) {
    kubectl::apply(&plane, MONITORING);
    kubectl::apply(&plane, CERT_MANAGER);
    for definition in ["servicemonitors.monitoring.coreos.com", "prometheusrules.monitoring.coreos.com"] {
        plane.until_established(definition).await;
    }
    for definition in ["issuers.cert-manager.io", "certificates.cert-manager.io"] {
        plane.until_established(definition).await;
    }
    let home = plane.namespace("home").await;
    for example in EXAMPLES {
        kubectl::succeed(&plane, &["create", "namespace", &format!("{example}-system")]);
        let chart = path(example, "chart");
        for values in ["replicas=1", ALL, LEAST] {
            // An operator whose kinds are foreign has no finalizer policy.
            let has_policy = has(example, "finalizer-policy.yaml");
            let values =
                if has_policy { values.to_owned() } else { values.replace("finalizerPolicy.enabled=true,", "") };
            let rendered = helm(&plane, &["template", "one", &chart, "-n", &home, "--set", &values.replace(' ', "")]);
            accept(&plane, &rendered);
        }
        for folder in ["base", "overlays/ha", "overlays/monitoring"] {
            accept(&plane, &kustomize(&path(example, folder)));
        }
        if has(example, "overlays/cert-manager") {
            accept(&plane, &kustomize(&path(example, "overlays/cert-manager")));
            for values in [format!("{ALL},{CERTIFICATES}"), format!("{LEAST},config.webhooks.address=0,{CERTIFICATES}")]
            {
                let values = values.replace(' ', "");
                accept(&plane, &helm(&plane, &["template", "one", &chart, "-n", &home, "--set", &values]));
            }
        }
        accept(&plane, &kustomize(&combined(&plane, example)));
    }
    let replicas = |folder: &str| documents(&kustomize(&path("webapp", folder)));
    let count = |folder: &str| {
        let objects = replicas(folder);
        objects.iter().find(|object| object["kind"] == "Deployment").map(|object| object["spec"]["replicas"].clone())
    };
    assert_eq!((count("base"), count("overlays/ha")), (Some(1.into()), Some(2.into())));
}

/// Returns whether an example has a file or folder.
fn has(example: &str, file: &str) -> bool {
    fs::exists(path(example, file)).expect("a folder")
}

/// An overlay of a user: the base with all components, in another namespace and with another image.
fn combined(plane: &Plane, example: &str) -> String {
    let folder = plane.folder().join(format!("overlay-{example}"));
    let below = folder.join("deploy");
    copy(path(example, ".").as_ref(), &below);
    let mut components = vec!["monitoring", "network-policy"];
    if has(example, "components/cert-manager") {
        components.push("cert-manager");
    }
    let components: Vec<_> = components.iter().map(|component| format!("deploy/components/{component}")).collect();
    let text = format!(
        "resources: [deploy/base]\ncomponents: [{}]\n\
         replicas: [{{name: {example}, count: 3}}]\nimages: [{{name: {example}, newName: registry.example.com/x, newTag: v2}}]\n",
        components.join(", ")
    );
    fs::write(folder.join("kustomization.yaml"), text).expect("a file");
    folder.display().to_string()
}

/// Copies a folder with all that is in it.
pub(super) fn copy(from: &std::path::Path, to: &std::path::Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder").map(|entry| entry.expect("an entry")) {
        let target = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(fs::copy(entry.path(), target).expect("a file")),
        }
    }
}

/// Applies a text as a dry run on the server, which must not even warn.
#[track_caller]
fn accept(plane: &Plane, text: &str) {
    let arguments = ["apply", "--server-side", "--dry-run=server", "--validate=strict", "-f", "-"];
    let output = kubectl::run_with_input(plane, plane.admin(), &arguments, text);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && error.is_empty(), "{error}");
}

/// The kinds of cert-manager, with the fields of their published schemas that the manifests set.
const CERT_MANAGER: &str = "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: issuers.cert-manager.io}
spec:
  group: cert-manager.io
  names: {kind: Issuer, plural: issuers, singular: issuer}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          spec:
            type: object
            properties:
              ca: {type: object, required: [secretName], properties: {secretName: {type: string}}}
              selfSigned: {type: object}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: certificates.cert-manager.io}
spec:
  group: cert-manager.io
  names: {kind: Certificate, plural: certificates, singular: certificate}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          spec:
            type: object
            required: [issuerRef, secretName]
            properties:
              commonName: {type: string}
              dnsNames: {type: array, items: {type: string}}
              duration: {type: string}
              isCA: {type: boolean}
              issuerRef:
                type: object
                required: [name]
                properties: {group: {type: string}, kind: {type: string}, name: {type: string}}
              privateKey:
                type: object
                properties:
                  algorithm: {type: string, enum: [RSA, ECDSA, Ed25519]}
                  rotationPolicy: {type: string, enum: [Never, Always]}
                  size: {type: integer}
              secretName: {type: string}
              usages: {type: array, items: {type: string, enum: [digital signature, key encipherment, server auth]}}
";

/// The kinds of the Prometheus operator, as far as the manifests need them.
const MONITORING: &str = "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: servicemonitors.monitoring.coreos.com}
spec:
  group: monitoring.coreos.com
  names: {kind: ServiceMonitor, plural: servicemonitors, singular: servicemonitor}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, x-kubernetes-preserve-unknown-fields: true}}}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: prometheusrules.monitoring.coreos.com}
spec:
  group: monitoring.coreos.com
  names: {kind: PrometheusRule, plural: prometheusrules, singular: prometheusrule}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, x-kubernetes-preserve-unknown-fields: true}}}}
";
