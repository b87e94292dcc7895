//! The table of options: the flag of each option and its key in the configuration file.

/// The name of each flag, and the path of its key in the file.
pub(super) const KEYS: [(&str, &str); 44] = [
    ("namespace", "namespaces"),
    ("shutdown-timeout", "shutdownTimeout"),
    ("shards", "shards"),
    ("probe-address", "probes.address"),
    ("metrics-bind-address", "metrics.address"),
    ("metrics-secure", "metrics.secure"),
    ("metrics-cert-path", "metrics.certPath"),
    ("metrics-cert-name", "metrics.certName"),
    ("metrics-cert-key", "metrics.certKey"),
    ("profiling", "metrics.profiling"),
    ("webhook-address", "webhooks.address"),
    ("webhook-cert-path", "webhooks.certPath"),
    ("webhook-cert-name", "webhooks.certName"),
    ("webhook-cert-key", "webhooks.certKey"),
    ("webhook-service", "webhooks.service"),
    ("webhook-configuration", "webhooks.configuration"),
    ("log", "log.filter"),
    ("log-format", "log.format"),
    ("otlp-endpoint", "otlp.endpoint"),
    ("otlp-headers", "otlp.headers"),
    ("otlp-certificate", "otlp.certificate"),
    ("otlp-sampling-ratio", "otlp.samplingRatio"),
    ("otlp-service-name", "otlp.serviceName"),
    ("otlp-resource-attributes", "otlp.resourceAttributes"),
    ("connect-timeout", "client.connectTimeout"),
    ("response-timeout", "client.responseTimeout"),
    ("body-timeout", "client.bodyTimeout"),
    ("watch-timeout", "client.watchTimeout"),
    ("page-size", "client.pageSize"),
    ("kube-api-qps", "client.qps"),
    ("kube-api-burst", "client.burst"),
    ("nats-url", "nats.url"),
    ("nats-credentials", "nats.credentials"),
    ("leader-elect", "leaderElection.enabled"),
    ("leader-elect-lease-duration", "leaderElection.leaseDuration"),
    ("leader-elect-renew-deadline", "leaderElection.renewDeadline"),
    ("leader-elect-retry-period", "leaderElection.retryPeriod"),
    ("leader-elect-lease-name", "leaderElection.leaseName"),
    ("leader-elect-namespace", "leaderElection.namespace"),
    ("workers", "controllers.workers"),
    ("requeue-after", "controllers.requeueAfter"),
    ("resync-period", "controllers.resyncPeriod"),
    ("backoff-base", "controllers.backoffBase"),
    ("backoff-cap", "controllers.backoffCap"),
];

/// The key of the options by kind, which have no flags.
const KINDS: &str = "kinds";

/// Returns the names of the known keys in the mapping that contains the key with the path `key`, for example `controllers.wokers`.
pub(super) fn siblings(key: &str) -> Vec<&'static str> {
    let parent = key.rsplit_once('.').map_or("", |(parent, _)| parent);
    // `kinds.NAME` has the keys of `controllers`.
    let parent = if parent.starts_with("kinds.") { "controllers" } else { parent };
    let mut known: Vec<_> =
        KEYS.iter().map(|(_, path)| *path).chain([KINDS]).filter_map(|path| child_name(path, parent)).collect();
    // The table has the keys of a mapping one after the other.
    known.dedup();
    known
}

/// Returns the name in `path` directly below `parent`: `workers` for `controllers.workers` and `controllers`. `None` if `path` is not below
/// `parent`; an empty parent is the root of the file.
fn child_name(path: &'static str, parent: &str) -> Option<&'static str> {
    let rest = if parent.is_empty() { path } else { path.strip_prefix(parent)?.strip_prefix('.')? };
    rest.split('.').next()
}

/// Returns the path of the first known key with this name, in any mapping.
pub(super) fn path_with_name(name: &str) -> Option<&'static str> {
    KEYS.iter().map(|(_, path)| *path).find(|path| path.rsplit('.').next() == Some(name))
}
