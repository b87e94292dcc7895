//! The columns in which kinds are shown.

use kube::Client;
use serde_json::{Value, json};

use super::{discovery, get};

/// A list as a table.
const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";

/// Group, version, plural and columns of each kind that is listed, by the first three.
pub(super) async fn columns(client: &Client) -> Result<Value, String> {
    let mut taken = Vec::new();
    for row in discovery::rows(client).await? {
        if !row["verbs"].as_array().into_iter().flatten().any(|verb| verb == "list") {
            continue;
        }
        let word = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
        let (group, version, plural) = (word("group"), word("version"), word("resource"));
        let root = if group.is_empty() { "/api".to_owned() } else { format!("/apis/{group}") };
        let mut table = get(client, &format!("{root}/{version}/{plural}"), TABLE).await?;
        taken.push(((group, version, plural), table["columnDefinitions"].take()));
    }
    taken.sort_by(|one, other| one.0.cmp(&other.0));
    Ok(taken.into_iter().map(|((group, version, plural), columns)| json!([group, version, plural, columns])).collect())
}
