//! Generates the parts of the chart's Deployment and values that connect an operator with NATS, if it has kinds whose objects are in NATS
//! key-value buckets.

use super::template::Template;
use crate::manifest::nats::connection;
use serde_json::json;

/// The values of the connection.
pub(super) const VALUES: &str = "
# The connection with NATS, where kinds of the operator are in buckets: the URLs of the servers, and a Secret with the credentials file of
# the operator's user in the key `operator.creds`.
nats:
  url: \"\"
  credentialsSecret: \"\"
";

const URL: &str = ".Values.nats.url";
const SECRET: &str = ".Values.nats.credentialsSecret";

/// Connects the Deployment of a template with NATS. A release with a URL gets the variable `NATS_URL` in the container at the path
/// `container`. A release with a Secret of credentials gets the variable `NATS_CREDS` and a mount in this container, and a volume in the
/// Pod spec at the path `pod`.
pub(super) fn connect(template: &mut Template, (pod, container): (&[&str], &[&str])) {
    let mut url = Template::from(json!({"name": "NATS_URL"}));
    url.set(&["value"], Template::expression(format!("{URL} | quote")));
    let environment = [container, &["env"]].concat();
    template.push(&environment, Template::when(URL, url));
    let credentials = json!({"name": "NATS_CREDS", "value": connection::credentials_path()});
    template.push(&environment, Template::when(SECRET, credentials));
    let mut volume = Template::from(connection::unnamed_volume());
    volume.set(&["secret", "secretName"], Template::expression(format!("{SECRET} | quote")));
    template.push(&[pod, &["volumes"]].concat(), Template::when(SECRET, volume));
    template.push(&[container, &["volumeMounts"]].concat(), Template::when(SECRET, connection::mount()));
}
