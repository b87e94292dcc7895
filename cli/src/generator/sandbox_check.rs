//! Creates the generated CRDs and sample objects in a sandbox, an API server inside the process, and collects refusals and warnings.

use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, Response, header};
use http_body_util::BodyExt as _;
use opgen_sandbox::{Body, Sandbox, User};
use serde_json::{Value, json};
use tokio::{
    runtime::Builder,
    time::{Instant, sleep},
};

use super::report::GeneratedFile;
use crate::error::{Error, Result, ResultExt as _};

/// The timeout for a kind to be served.
const SERVED_TIMEOUT: Duration = Duration::from_secs(30);
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// The refusals and warnings of the API server, each with its file and field.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct SandboxReport {
    pub(crate) refusals: Vec<String>,
    pub(crate) warnings: Vec<String>,
}

/// An object, with the text that names it in reports.
#[derive(Clone, Debug)]
pub(crate) struct LabelledObject {
    pub(crate) label: String,
    pub(crate) object: Value,
}

/// Creates every generated CRD and then every sample in a new sandbox, and returns the warnings and refusals of its API server. Unknown
/// fields of samples are refused.
pub(crate) fn check(files: &[GeneratedFile]) -> Result<SandboxReport> {
    check_objects(&parse_objects(files, "base/crds/")?, &parse_objects(files, "samples/")?, "Strict")
}

/// Creates CRDs and then objects in a new sandbox, and returns the warnings and refusals of its API server. Skips objects whose CRD was
/// refused. `field_validation` is the query parameter `fieldValidation` for the objects: `Strict` refuses unknown fields.
pub(crate) fn check_objects(
    definitions: &[LabelledObject],
    objects: &[LabelledObject],
    field_validation: &str,
) -> Result<SandboxReport> {
    let failed = || "failed to check the YAML".to_owned();
    let runtime = Builder::new_current_thread().enable_all().build().or_failed(failed)?;
    runtime.block_on(async {
        let server = CheckServer(Sandbox::builder().workloads(false).start());
        let mut report = SandboxReport::default();
        let mut served = Vec::new();
        for LabelledObject { label, object } in definitions {
            if server.create(label, DEFINITIONS, object, &mut report).await? {
                server.wait_established(object).await?;
                served.push(object);
            }
        }
        for LabelledObject { label, object } in objects {
            // There is no path if the CRD of the object was refused.
            let Some(path) = served.iter().find_map(|definition| collection_path(definition, object)) else {
                continue;
            };
            server.create_namespace(object).await?;
            let path = format!("{path}?fieldValidation={field_validation}");
            server.create(label, &path, object, &mut report).await?;
        }
        Ok(report)
    })
}

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

impl SandboxReport {
    /// Returns the warnings, or an error that lists the refusals.
    pub(crate) fn into_result(self) -> Result<Vec<String>> {
        if self.refusals.is_empty() {
            return Ok(self.warnings);
        }
        let list = self.refusals.join("\n  ");
        Err(Error::failed(format!("the API server would reject the generated YAML; nothing was written\n  {list}"))
            .hint("the path after the file name is a field of the Rust type; change its attributes"))
    }
}

/// Parses the generated files below a folder. Each object has the path of its file as its label.
fn parse_objects(files: &[GeneratedFile], folder: &str) -> Result<Vec<LabelledObject>> {
    let of_folder = files.iter().filter(|file| file.path.starts_with(folder));
    let read = |file: &GeneratedFile| {
        let object = serde_saphyr::from_str(&file.text);
        let object = object.or_failed(|| format!("failed to read `{}`", file.path))?;
        Ok(LabelledObject { label: file.path.clone(), object })
    };
    of_folder.map(read).collect()
}

/// Returns the URL path for requests that create the sample; `None` if the CRD defines another kind.
fn collection_path(definition: &Value, sample: &Value) -> Option<String> {
    let spec = &definition["spec"];
    let (group, version) = sample["apiVersion"].as_str()?.split_once('/')?;
    let is_of_kind = spec["group"] == group && spec["names"]["kind"] == sample["kind"];
    let plural = spec["names"]["plural"].as_str().filter(|_| is_of_kind)?;
    let namespace = match spec["scope"] == "Namespaced" {
        true => format!("/namespaces/{}", namespace(sample)),
        false => String::new(),
    };
    Some(format!("/apis/{group}/{version}{namespace}/{plural}"))
}

fn namespace(sample: &Value) -> &str {
    sample["metadata"]["namespace"].as_str().unwrap_or("default")
}

/// The sandbox of a check.
struct CheckServer(Sandbox);

impl CheckServer {
    /// Creates an object, and adds the warnings and the causes of a refusal to `report`, with `label` as the name of the object. Returns
    /// whether the object was created.
    async fn create(&self, label: &str, path: &str, object: &Value, report: &mut SandboxReport) -> Result<bool> {
        let response = self.request(Method::POST, path, Some(object)).await?;
        let warnings = response.headers().get_all(header::WARNING).into_iter().filter_map(|text| text.to_str().ok());
        // A warning has the form `299 - "the text"`.
        let warning_text =
            |warning: &str| warning.splitn(3, ' ').last().unwrap_or_default().trim_matches('"').to_owned();
        report.warnings.extend(warnings.map(|warning| format!("{label}: {}", warning_text(warning))));
        if response.status().is_success() {
            return Ok(true);
        }
        let status = body(response).await?;
        let causes = status["details"]["causes"].as_array().filter(|causes| !causes.is_empty());
        match causes {
            Some(causes) => report.refusals.extend(causes.iter().map(|cause| refusal(label, cause))),
            None => {
                let message = status["message"].as_str().unwrap_or("rejected without a reason");
                report.refusals.push(format!("{label}: {message}"));
            }
        }
        Ok(false)
    }

    /// Waits until the condition `Established` of a CRD is true. Fails after a timeout.
    async fn wait_established(&self, definition: &Value) -> Result<()> {
        let name = definition["metadata"]["name"].as_str().unwrap_or_default();
        let end = Instant::now() + SERVED_TIMEOUT;
        loop {
            let found = body(self.request(Method::GET, &format!("{DEFINITIONS}/{name}"), None).await?).await?;
            let mut conditions = found["status"]["conditions"].as_array().into_iter().flatten();
            if conditions.any(|condition| condition["type"] == "Established" && condition["status"] == "True") {
                return Ok(());
            }
            if Instant::now() > end {
                return Err(Error::failed(format!("`{name}` is not served")).because(found["status"].to_string()));
            }
            sleep(POLL_INTERVAL).await;
        }
    }

    /// Creates the namespace of a sample, unless it exists.
    async fn create_namespace(&self, sample: &Value) -> Result<()> {
        let object = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace(sample)}});
        self.request(Method::POST, "/api/v1/namespaces", Some(&object)).await.map(drop)
    }

    /// Sends a request to the sandbox as an administrator.
    async fn request(&self, method: Method, path: &str, object: Option<&Value>) -> Result<Response<Body>> {
        let bytes = object.map_or_else(Bytes::new, |object| Bytes::from(object.to_string()));
        let request =
            Request::builder().method(method).uri(path).header(header::CONTENT_TYPE, "application/json").body(bytes);
        let request = request.or_failed(|| format!("failed to build the request of `{path}`"))?;
        Ok(self.0.call(User::admin("opgen-generate"), request).await)
    }
}

async fn body(response: Response<Body>) -> Result<Value> {
    let failed = || "failed to read the response of the sandbox".to_owned();
    let bytes = response.into_body().collect().await.or_failed(failed)?.to_bytes();
    serde_json::from_slice(&bytes).or_failed(failed)
}

/// Returns a cause of a refusal as text: the label of the object, the field and the message. For a field of a CRD's schema, the text names
/// the field of the custom resource that the schema describes, too.
fn refusal(label: &str, cause: &Value) -> String {
    let (field, message) = (cause["field"].as_str().unwrap_or_default(), cause["message"].as_str().unwrap_or_default());
    match object_path(field) {
        Some(path) => format!("{label}: {path}: {message} ({field})"),
        None => format!("{label}: {field}: {message}"),
    }
}

/// Returns the field of a custom resource that a path in a CRD's schema describes: `.spec.sizes[*]` for
/// `openAPIV3Schema.properties[spec].properties[sizes].items`. The root is `.`. The path ends at
/// the first keyword that leads to no field. `None` if the path isn't in a schema.
fn object_path(schema_path: &str) -> Option<String> {
    let (_, mut rest) = schema_path.split_once("openAPIV3Schema")?;
    let mut path = String::new();
    loop {
        if let Some((name, after)) = rest.strip_prefix(".properties[").and_then(|rest| rest.split_once(']')) {
            path = format!("{path}.{name}");
            rest = after;
        } else if let Some(after) = rest.strip_prefix(".items") {
            path.push_str("[*]");
            rest = after;
        } else if let Some(after) = rest.strip_prefix(".additionalProperties") {
            path.push_str(".*");
            rest = after;
        } else {
            return Some(if path.is_empty() { ".".to_owned() } else { path });
        }
    }
}

#[cfg(test)]
#[path = "sandbox_check/tests.rs"]
mod tests;
