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

/// Returns the known keys beside a key, without the path.
pub(super) fn siblings(key: &str) -> Vec<&'static str> {
    let folder = key.rsplit_once('.').map_or("", |(folder, _)| folder);
    // `kinds.NAME` has the keys of `controllers`.
    let folder = if folder.starts_with("kinds.") { "controllers" } else { folder };
    let mut known: Vec<_> =
        KEYS.iter().map(|(_, path)| *path).chain([KINDS]).filter_map(|path| below(path, folder)).collect();
    known.dedup();
    known
}

/// Returns the first name of a path below a folder.
fn below(path: &'static str, folder: &str) -> Option<&'static str> {
    let rest = if folder.is_empty() { path } else { path.strip_prefix(folder)?.strip_prefix('.')? };
    rest.split('.').next()
}

/// Returns the path of a key of this name in another place.
pub(super) fn elsewhere(name: &str) -> Option<&'static str> {
    KEYS.iter().map(|(_, path)| *path).find(|path| path.rsplit('.').next() == Some(name))
}
