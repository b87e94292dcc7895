//! `DriverInput`: the parts of applications and credentials that a driver may ignore, and values for the options of applications.

use std::fmt;

use opgen::{cd::Application, scope::Kubeconfig};
use serde_json::json;

/// The text in all values that may be secrets, by which they are found in messages and metadata.
pub(super) const SECRET: &str = "opgen-hidden";

/// An option of an application, or a part of the credentials of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum DriverInput {
    /// The option [`release`](Application::release).
    Release,
    /// The option [`namespace`](Application::namespace).
    Namespace,
    /// The option [`create_namespace`](Application::create_namespace).
    CreateNamespace,
    /// The option [`namespace_label`](Application::namespace_label).
    NamespaceLabels,
    /// The option [`namespace_annotation`](Application::namespace_annotation).
    NamespaceAnnotations,
    /// The option [`parameter`](Application::parameter).
    Parameters,
    /// The option [`values`](Application::values).
    Values,
    /// The option [`server_side_apply`](Application::server_side_apply).
    ServerSideApply,
    /// The option [`ignore_difference`](Application::ignore_difference).
    IgnoredDifferences,
    /// The option [`allow_degraded`](Application::allow_degraded).
    AllowDegraded,
    /// The option [`cluster`](Application::cluster).
    Cluster,
    /// The option [`kubeconfig`](Application::kubeconfig).
    Kubeconfig,
    /// The [name in the certificate](opgen::cd::ClusterCredentials::tls_server_name) of a server.
    TlsServerName,
    /// Whether the certificate of a server [is not checked](opgen::cd::ClusterCredentials::insecure_skip_tls_verify).
    InsecureSkipTlsVerify,
    /// The [authority](opgen::cd::ClusterCredentials::certificate_authority_data) of the certificate of a server.
    CertificateAuthority,
    /// The [certificate](opgen::cd::ClusterCredentials::client_certificate_data) of a client, with its key.
    ClientCertificate,
    /// The bearer [token](opgen::cd::ClusterCredentials::token).
    Token,
    /// The name of a user, with the [password](opgen::cd::ClusterCredentials::password).
    Password,
}

/// Displays the name of the method of `Application`, or of the field of `ClusterCredentials`.
impl fmt::Display for DriverInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Release => "`release`",
            Self::Namespace => "`namespace`",
            Self::CreateNamespace => "`create_namespace`",
            Self::NamespaceLabels => "`namespace_label`",
            Self::NamespaceAnnotations => "`namespace_annotation`",
            Self::Parameters => "`parameter`",
            Self::Values => "`values`",
            Self::ServerSideApply => "`server_side_apply`",
            Self::IgnoredDifferences => "`ignore_difference`",
            Self::AllowDegraded => "`allow_degraded`",
            Self::Cluster => "`cluster`",
            Self::Kubeconfig => "`kubeconfig`",
            Self::TlsServerName => "`tls_server_name`",
            Self::InsecureSkipTlsVerify => "`insecure_skip_tls_verify`",
            Self::CertificateAuthority => "`certificate_authority_data`",
            Self::ClientCertificate => "`client_certificate_data` with `client_key_data`",
            Self::Token => "`token`",
            Self::Password => "`username` with `password`",
        })
    }
}

/// All options of applications.
pub(super) const OPTIONS: [DriverInput; 12] = [
    DriverInput::Release,
    DriverInput::Namespace,
    DriverInput::CreateNamespace,
    DriverInput::NamespaceLabels,
    DriverInput::NamespaceAnnotations,
    DriverInput::Parameters,
    DriverInput::Values,
    DriverInput::ServerSideApply,
    DriverInput::IgnoredDifferences,
    DriverInput::AllowDegraded,
    DriverInput::Cluster,
    DriverInput::Kubeconfig,
];

impl DriverInput {
    /// Returns whether a change of the option must change the installed application in place, and not install it again.
    pub(super) fn is_changed_in_place(self) -> bool {
        matches!(self, Self::Parameters | Self::Values)
    }

    /// Returns an application with the option set to one of several values, chosen by the number `variant`; 0 is the simplest value. `None`
    /// if the option has no value of that number, or if it is a part of credentials and not an option.
    pub(super) fn set(self, variant: usize, application: Application) -> Option<Application> {
        let name = ["opgen-first", "opgen-second"].get(variant).copied();
        let is_first = variant == 0;
        match self {
            Self::Release => Some(application.release(name?)),
            Self::Namespace => Some(application.namespace(name?)),
            Self::CreateNamespace => is_first.then(|| application.create_namespace()),
            Self::NamespaceLabels => {
                let (key, value) = *ENTRIES.get(variant)?;
                Some(application.namespace_label(key, value))
            }
            Self::NamespaceAnnotations => {
                let (key, value) = *ENTRIES.get(variant)?;
                Some(application.namespace_annotation(key, value))
            }
            Self::Parameters => set_parameters(variant, application),
            Self::Values => set_values(variant, application),
            Self::ServerSideApply => is_first.then(|| application.server_side_apply()),
            Self::IgnoredDifferences => set_ignored_difference(variant, application),
            Self::AllowDegraded => is_first.then(|| application.allow_degraded()),
            Self::Cluster => Some(application.cluster(name?)),
            Self::Kubeconfig => {
                let first_secret = || Kubeconfig::secret("opgen-first");
                Some(application.kubeconfig(match variant {
                    0 => first_secret(),
                    1 => Kubeconfig::secret("opgen-second"),
                    2 => first_secret().key("opgen-key"),
                    3 => first_secret().namespace("opgen-namespace"),
                    _ => return None,
                }))
            }
            Self::TlsServerName
            | Self::InsecureSkipTlsVerify
            | Self::CertificateAuthority
            | Self::ClientCertificate
            | Self::Token
            | Self::Password => None,
        }
    }
}

/// Entries of labels and annotations.
const ENTRIES: [(&str, &str); 3] =
    [("example.com/first", "one"), ("example.com/first", "two"), ("example.com/second", "one")];

/// Parameters by variant. Some CD systems can't express the ones with unusual names and values.
const PARAMETERS: [(&str, &str); 8] = [
    ("opgenParameter.first", "opgen-hidden-one"),
    ("opgenParameter.first", "opgen-hidden-two"),
    ("opgenParameter.second", "opgen-hidden-one"),
    ("opgenParameter.first", ""),
    ("opgenParameter[0].first", "opgen-hidden-one"),
    ("opgenParameter..first", "opgen-hidden-one"),
    ("opgenParameter=first", "opgen-hidden-one"),
    ("opgenParameter.first", "{opgen-hidden-one,b}"),
];

/// Returns an application with a parameter, chosen by the number `variant`, or with eight parameters for the last number. `None` for a
/// larger number.
fn set_parameters(variant: usize, application: Application) -> Option<Application> {
    match PARAMETERS.get(variant) {
        Some((name, value)) => Some(application.parameter(*name, *value)),
        // Eight parameters, so that a driver which returns them in a random order is noticed.
        None if variant == PARAMETERS.len() => {
            let names = ["h", "c", "a", "f", "b", "g", "d", "e"].into_iter();
            Some(names.fold(application, |application, name| {
                application.parameter(format!("opgenParameter.{name}"), format!("{SECRET}-{name}"))
            }))
        }
        None => None,
    }
}

/// Returns an application with Helm values, chosen by the number `variant`, each of which differs in one place from those of 0. `None` if
/// there are no values of that number.
fn set_values(variant: usize, application: Application) -> Option<Application> {
    let values = match variant {
        0 => json!({"text": "opgen-hidden-one", "count": 1, "list": ["a", {"b": true}]}),
        1 => json!({"text": "opgen-hidden-two", "count": 1, "list": ["a", {"b": true}]}),
        2 => json!({"text": "opgen-hidden-one", "count": 2, "list": ["a", {"b": true}]}),
        3 => json!({"text": "opgen-hidden-one", "count": 1, "list": ["a", {"b": false}]}),
        4 => json!({"text": "opgen-hidden-one", "count": 1, "list": [{"b": true}, "a"]}),
        5 => json!({"text": "opgen-hidden-one", "count": 1}),
        _ => return None,
    };
    Some(application.values(json!({"opgenValues": values})))
}

/// Returns an application with an ignored difference, chosen by the number `variant`: the group, the kind or the JSON pointers differ from
/// those of 0. `None` if there is none of that number.
fn set_ignored_difference(variant: usize, application: Application) -> Option<Application> {
    let (group, kind, pointers): (&str, &str, &[&str]) = match variant {
        0 => ("apps", "Deployment", &["/spec/replicas"]),
        1 => ("example.com", "Deployment", &["/spec/replicas"]),
        2 => ("apps", "StatefulSet", &["/spec/replicas"]),
        3 => ("apps", "Deployment", &["/spec/paused"]),
        4 => ("apps", "Deployment", &["/spec/replicas", "/spec/paused"]),
        5 => ("", "Deployment", &["/spec/replicas"]),
        _ => return None,
    };
    Some(application.ignore_difference(group, kind, pointers.iter().copied()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use opgen::{cd::ArgoCd, testing::ApplicationHarness};

    #[test]
    #[allow(clippy::unwrap_used)]
    fn each_variant_of_an_option_gives_another_application() {
        let chart = || Application::chart("https://charts.example.com", "web", "1.2.3");
        let resolve = |application: Application| ApplicationHarness::new().resolve::<ArgoCd>(application).unwrap();
        for option in OPTIONS {
            let variants = (0..).map_while(|variant| option.set(variant, chart()));
            let mut specs = vec![resolve(chart())];
            specs.extend(variants.map(resolve));
            assert!(specs.len() > 1, "{option}");
            for (at, spec) in specs.iter().enumerate() {
                assert!(!specs[..at].contains(spec), "{option}: variant {at} is like an earlier one");
            }
        }
    }
}
