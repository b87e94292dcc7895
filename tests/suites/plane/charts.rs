//! Makes a repository of charts and serves it.

use std::{fs, path::PathBuf, sync::Arc};

use axum::{
    Router,
    extract::{Path, State},
    http::StatusCode,
    routing::get,
};
use opgen_tests::{Plane, tools};
use tokio::{net::TcpListener, task::JoinHandle};

/// A Deployment, and a ConfigMap and a hook before upgrades on demand. The Pods of a chart that is stuck fit on no node, those of one that
/// is pulling have no image, and the hook does not end.
const TEMPLATE: &str = r#"
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Values.name }}
  labels: {version: "{{ .Chart.Version }}"}
spec:
  replicas: {{ .Values.replicas }}
  progressDeadlineSeconds: 3
  selector: {matchLabels: {app: {{ .Values.name }}}}
  template:
    metadata:
      labels: {app: {{ .Values.name }}}
      {{- if .Values.pulling }}
      annotations: {opgen.test/pod: pulling}
      {{- end }}
    spec:
      {{- if .Values.stuck }}
      nodeSelector: {none: "true"}
      {{- end }}
      containers:
      - {name: main, image: "example.com/web:{{ .Chart.Version }}"}
{{- if .Values.extra }}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: "{{ .Values.name }}-extra"}
data: {release: "{{ .Release.Name }}"}
{{- end }}
{{- if .Values.hook }}
---
apiVersion: batch/v1
kind: Job
metadata:
  name: "{{ .Values.name }}-hook"
  annotations: {helm.sh/hook: pre-upgrade}
spec:
  template:
    metadata:
      annotations: {opgen.test/pod: pending}
    spec:
      restartPolicy: Never
      containers:
      - {name: main, image: "example.com/hook:1"}
{{- end }}
"#;

/// The names and versions of the charts.
const CHARTS: [(&str, &str); 4] = [("web", "1.0.0"), ("web", "2.0.0"), ("stuck", "1.0.0"), ("pulling", "1.0.0")];

/// A served repository of charts.
pub(crate) struct Charts {
    pub(crate) url: String,
    server: JoinHandle<()>,
}

impl Charts {
    /// Packages the charts with Helm and serves them on the loopback address.
    pub(crate) async fn serve(plane: &Plane) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port for the charts");
        let url = format!("http://{}", listener.local_addr().expect("the address of the charts"));
        let folder = plane.folder().join("charts");
        for (name, version) in CHARTS {
            let chart = folder.join(format!("source-{version}")).join(name);
            fs::create_dir_all(chart.join("templates")).expect("a folder for a chart");
            let metadata = format!("apiVersion: v2\nname: {name}\nversion: {version}\n");
            let is = |other: &str| name == other;
            let kinds = format!("stuck: {}\npulling: {}\n", is("stuck"), is("pulling"));
            let values = format!("name: web\nreplicas: 1\nextra: false\nhook: false\n{kinds}");
            for (file, text) in
                [("Chart.yaml", &*metadata), ("values.yaml", &*values), ("templates/all.yaml", TEMPLATE)]
            {
                fs::write(chart.join(file), text).expect("a file of a chart");
            }
            helm(plane, &["package", &chart.to_string_lossy(), "-d", &folder.join("repository").to_string_lossy()]);
        }
        let repository = folder.join("repository");
        helm(plane, &["repo", "index", &repository.to_string_lossy(), "--url", &url]);
        let router = Router::new().route("/{file}", get(file)).with_state(Arc::new(repository));
        let server =
            tokio::spawn(async move { axum::serve(listener, router).await.expect("the server of the charts") });
        Self { url, server }
    }
}

impl Drop for Charts {
    fn drop(&mut self) {
        self.server.abort();
    }
}

/// Responds with a file of the repository.
async fn file(State(repository): State<Arc<PathBuf>>, Path(file): Path<String>) -> Result<Vec<u8>, StatusCode> {
    fs::read(repository.join(file)).map_err(|_| StatusCode::NOT_FOUND)
}

fn helm(plane: &Plane, arguments: &[&str]) {
    let output = tools::helm(plane, arguments);
    assert!(output.status.success(), "helm {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}
