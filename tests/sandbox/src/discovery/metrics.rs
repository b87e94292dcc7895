//! Serves `/metrics`: object and request counts, as kube-apiserver exports them.

use crate::server::Server;

/// Returns the metrics in the Prometheus text format, under the names that kube-apiserver uses.
pub(super) fn metrics(server: &Server) -> String {
    let mut text = "# HELP apiserver_resource_objects [STABLE] Number of stored objects at the time of last check.\n\
                    # TYPE apiserver_resource_objects gauge\n"
        .to_owned();
    let mut group_resources = server.store.group_resources();
    group_resources.sort();
    for group_resource in group_resources {
        let (resource, group) = group_resource.split_once('.').unwrap_or((&group_resource, ""));
        let (_, objects) = server.store.list(&group_resource, None);
        let count = objects.len();
        text.push_str(&format!("apiserver_resource_objects{{group={group:?},resource={resource:?}}} {count}\n"));
    }
    text.push_str(
        "# HELP apiserver_request_total [STABLE] Counter of apiserver requests broken out for each verb and code.\n\
         # TYPE apiserver_request_total counter\n",
    );
    for ((verb, code), count) in server.audit.counts() {
        let verb = verb.to_ascii_uppercase();
        text.push_str(&format!("apiserver_request_total{{code=\"{code}\",verb={verb:?}}} {count}\n"));
    }
    text
}
