//! `Placeholders`: texts that stand for the names of a Helm release in generated YAML until they are replaced by Helm template expressions.

use super::options;
use crate::manifest::{cert_manager, deployment::HEALTH_PORT, project::Project, webhooks::WEBHOOK_PORT};
use serde_json::{Map, Value, json};

const FULL_NAME: &str = "opgen-release-full-name";
const NAMESPACE: &str = "opgen-release-namespace";
const RELEASE: &str = "opgen-release-instance";
const LEASE: &str = "opgen-release-lease";
const DASHBOARD: &str = "opgen-release-dashboard";
/// The label that stands for the labels of a release: [`Placeholders::replace`] replaces its line with the named template `labels`.
const LABELS: &str = "opgen-release-labels";

/// The label with the name of the operator, which is that of the chart in every release.
const NAME_LABEL: &str = "app.kubernetes.io/name";

/// The lines of the configuration file's template for an operator with webhooks, whose objects have the names of the release.
const WEBHOOK_NAMES: &str = "\
{{- $fullname := include \"$CHART.fullname\" . -}}
{{- $configuration := printf \"%s-%s\" .Release.Namespace $fullname -}}
{{- $webhooks := dict \"service\" (printf \"%s-webhook\" $fullname) \"configuration\" $configuration -}}
{{- $_ := set $defaults \"webhooks\" $webhooks -}}
{{- if include \"$CHART.certManager\" . -}}
{{- if dig \"webhooks\" \"certPath\" \"\" .Values.config -}}
{{- fail \"webhooks.certManager and config.webhooks.certPath can't be set both\" -}}
{{- end -}}
{{- $_ := set $webhooks \"certPath\" \"$CERT_PATH\" -}}
{{- end -}}
";

/// The named templates of an operator with webhooks.
const WEBHOOK_TEMPLATES: &str = "
{{- define \"$CHART.webhookPort\" -}}
{{- include \"$CHART.port\" (dig \"webhooks\" \"address\" \":$WEBHOOK_PORT\" .Values.config) -}}
{{- end -}}

{{- /*
Not empty if cert-manager makes the certificate of the webhooks.
*/ -}}
{{- define \"$CHART.certManager\" -}}
{{- if and .Values.webhooks.certManager (include \"$CHART.webhookPort\" .) -}}true{{- end -}}
{{- end -}}
";

/// The name of the ServiceAccount of a release.
pub(super) const SERVICE_ACCOUNT: &str = "opgen-release-service-account";

/// The expressions that replace the placeholders in the chart of an operator.
#[derive(Debug)]
pub(super) struct Placeholders<'a> {
    project: &'a Project,
}

impl<'a> Placeholders<'a> {
    pub(super) fn new(project: &'a Project) -> Self {
        Self { project }
    }

    /// Returns the project with placeholders in place of its name, namespace and Lease, which a Helm release chooses.
    pub(super) fn release(&self) -> Project {
        Project {
            name: FULL_NAME.to_owned(),
            namespace: NAMESPACE.to_owned(),
            lease: LEASE.to_owned(),
            is_release: true,
            ..self.project.clone()
        }
    }

    /// Returns the name of an object of a release: a placeholder for the release's name, followed by `ending`.
    pub(super) fn name(&self, ending: &str) -> String {
        format!("{FULL_NAME}{ending}")
    }

    /// Returns the expression that includes a named template of this chart.
    pub(super) fn include(&self, name: &str) -> String {
        format!("include \"{}.{name}\" .", self.project.name)
    }

    /// Returns a document in which the labels of a Helm release replace the operator's labels, and all selectors require the release.
    pub(super) fn relabel(&self, mut document: Value) -> Value {
        self.relabel_nested(&mut document);
        document
    }

    /// Replaces the operator's labels below `value` by the placeholder for the labels of a Helm release, and adds the release to the label
    /// selectors. A map that contains [`NAME_LABEL`] is a set of labels if its key is `labels`, and a selector under any other key.
    fn relabel_nested(&self, value: &mut Value) {
        match value {
            Value::Object(entries) => {
                for (key, value) in entries.iter_mut() {
                    match value {
                        Value::Object(labels) if key == "labels" && labels.contains_key(NAME_LABEL) => {
                            insert_labels_placeholder(labels)
                        }
                        Value::Object(labels) if labels.contains_key(NAME_LABEL) => {
                            labels.insert(NAME_LABEL.to_owned(), json!(self.project.name));
                            labels.insert("app.kubernetes.io/instance".to_owned(), json!(RELEASE));
                        }
                        _ => self.relabel_nested(value),
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.relabel_nested(item)),
            _ => {}
        }
    }

    /// Sets the uid and the tags of a Grafana dashboard. The uid is a placeholder for a digest of the release's namespace and name, so the
    /// dashboards of several releases differ.
    pub(super) fn identify(&self, mut dashboard: Value) -> Value {
        dashboard["uid"] = json!(DASHBOARD);
        dashboard["tags"] = json!(["opgen", self.project.name]);
        dashboard
    }

    /// Replaces the placeholders in the text of a template by Helm expressions. A line with the placeholder for labels becomes a line that
    /// includes the named template `labels`, with the same indentation.
    pub(super) fn replace(&self, text: &str) -> String {
        let labels = format!("{LABELS}: null");
        let mut replaced = String::with_capacity(text.len());
        for line in text.lines() {
            let indent = line.len() - line.trim_start().len();
            if line.trim_start() == labels {
                let include = self.include("labels");
                replaced.push_str(&format!("{:indent$}{{{{- {include} | nindent {indent} }}}}\n", ""));
            } else {
                replaced.push_str(line);
                replaced.push('\n');
            }
        }
        let dashboard =
            format!("printf \"%s/%s\" .Release.Namespace ({}) | sha256sum | trunc 32", self.include("fullname"));
        let expressions = [
            (FULL_NAME, self.include("fullname")),
            (NAMESPACE, ".Release.Namespace".to_owned()),
            (RELEASE, ".Release.Name | quote".to_owned()),
            (LEASE, self.include("leaseName")),
            (SERVICE_ACCOUNT, self.include("serviceAccountName")),
        ];
        let replaced = replaced.replace(DASHBOARD, &format!("opgen-{{{{ {dashboard} }}}}"));
        expressions.iter().fold(replaced, |text, (placeholder, expression)| {
            text.replace(placeholder, &format!("{{{{ {expression} }}}}"))
        })
    }

    /// Replaces the placeholders, such as `$CHART`, in the named templates of the chart (`_helpers.tpl`).
    pub(super) fn fill_named_templates(&self, text: &str) -> String {
        let name = &self.project.name;
        // A default name of the Lease follows the name of the release; a name that the operator sets is constant.
        let lease = match self.project.lease == format!("{name}.opgen.dev") {
            true => format!("(printf \"%s.opgen.dev\" (include \"{name}.fullname\" .))"),
            false => json!(self.project.lease).to_string(),
        };
        // A namespaced operator has permissions only in the namespace of its Helm release.
        let namespaces = match self.project.namespaced {
            true => "{{- $_ := set $defaults \"namespaces\" (list .Release.Namespace) -}}\n",
            false => "",
        };
        let (webhooks, webhook_templates) = match self.project.has_webhooks() {
            true => (WEBHOOK_NAMES, WEBHOOK_TEMPLATES),
            false => ("", ""),
        };
        let (api_version, kind) = options::header();
        format!("{text}{webhook_templates}")
            .replace("$NAMESPACES\n", namespaces)
            .replace("$WEBHOOKS\n", webhooks)
            .replace("$CERT_PATH", cert_manager::MOUNT_PATH)
            .replace("$WEBHOOK_PORT", &WEBHOOK_PORT.to_string())
            .replace("$LEASE", &lease)
            .replace("$PROBE_PORT", &HEALTH_PORT.to_string())
            .replace("$API_VERSION", &api_version)
            .replace("$KIND", &kind)
            .replace("$CHART", name)
    }
}

/// Replaces the labels that identify the operator by the placeholder for the labels of a Helm release, and keeps all other labels.
fn insert_labels_placeholder(labels: &mut Map<String, Value>) {
    for replaced in [NAME_LABEL, "app.kubernetes.io/managed-by", "app.kubernetes.io/version"] {
        labels.remove(replaced);
    }
    labels.insert(LABELS.to_owned(), Value::Null);
}
