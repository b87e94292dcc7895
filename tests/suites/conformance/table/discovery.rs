//! The kinds.

use kube::Client;
use serde_json::Value;

use super::get;

/// Discovery in one document.
const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// A kind as discovery has it, with the group and the version that it stands under.
pub(super) async fn rows(client: &Client) -> Result<Vec<Value>, String> {
    let mut rows = Vec::new();
    for path in ["/api", "/apis"] {
        let mut answer = get(client, path, AGGREGATED).await?;
        for group in answer["items"].as_array_mut().into_iter().flatten() {
            let name = group["metadata"]["name"].as_str().unwrap_or_default().to_owned();
            for version in group["versions"].as_array_mut().into_iter().flatten() {
                let at = version["version"].clone();
                for row in version["resources"].as_array_mut().into_iter().flatten() {
                    let mut row = row.take();
                    row["group"] = name.as_str().into();
                    row["version"] = at.clone();
                    rows.push(row);
                }
            }
        }
    }
    Ok(rows)
}

/// A kind a line, in the order of discovery.
pub(super) async fn kinds(client: &Client) -> Result<String, String> {
    let rows: Vec<_> = rows(client).await?.iter().map(Value::to_string).collect();
    Ok(format!("[\n{}\n]\n", rows.join(",\n")))
}
