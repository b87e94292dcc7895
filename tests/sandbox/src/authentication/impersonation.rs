//! Implements impersonation by the `Impersonate-*` headers.
//!
//! A user may impersonate another for all requests (`impersonate`) or, since Kubernetes 1.36, for some
//! (`impersonate-on:MODE:VERB`, KEP-5284).

use std::sync::PoisonError;

use http::HeaderMap;
use percent_encoding::percent_decode_str;

use super::credentials::AUTHENTICATED;
use crate::{
    authorization::{AccessTarget, Attributes, Decision, decide},
    call::Call,
    failure::Failure,
    server::Server,
    user::{MASTERS, User},
};

/// The API group of the resources whose impersonation is checked.
const GROUP: &str = "authentication.k8s.io";
const UNAUTHENTICATED: &str = "system:unauthenticated";
/// The prefix of the user names of ServiceAccounts.
const SERVICE_ACCOUNT_PREFIX: &str = "system:serviceaccount:";
/// The prefix of the user names of nodes.
const NODE_PREFIX: &str = "system:node:";

/// The user that the headers of a request name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ImpersonationHeaders(User);

impl ImpersonationHeaders {
    /// Parses the `Impersonate-*` headers into the user that they name; returns `None` if the request has no such header.
    pub(crate) fn parse(headers: &HeaderMap) -> Option<Self> {
        let mut user = User { name: String::new(), uid: String::new(), groups: Vec::new(), extra: Vec::new() };
        let mut found = false;
        for (name, value) in headers {
            let Some(field) = name.as_str().strip_prefix("impersonate-") else { continue };
            let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
            match field {
                "user" => user.name = value,
                "uid" => user.uid = value,
                "group" => user.groups.push(value),
                _ => {
                    let Some(key) = field.strip_prefix("extra-") else { continue };
                    let key = percent_decode_str(key).decode_utf8_lossy().into_owned();
                    match user.extra.iter_mut().find(|(existing, _)| *existing == key) {
                        Some((_, values)) => values.push(value),
                        None => user.extra.push((key, vec![value])),
                    }
                }
            }
            found = true;
        }
        user.extra.sort();
        found.then_some(Self(user))
    }
}

/// Replaces the user of the request by the user that its `Impersonate-*` headers name. Returns a 403 error if the caller may not
/// impersonate the named user, or a 400 error if the headers have groups, a uid or extra values, but no user name.
pub(crate) fn impersonate(
    server: &Server,
    call: &mut Call,
    requested: Option<ImpersonationHeaders>,
) -> Result<(), Failure> {
    let Some(ImpersonationHeaders(requested)) = requested else { return Ok(()) };
    if requested.name.is_empty() {
        let why = format!("requested {} without impersonating a user name", go_syntax(&requested));
        return Err(Failure::bad_request(why));
    }
    if !call.user.is_master() {
        check_permissions(server, call, &requested)?;
    }
    call.user = with_implied_groups(requested);
    Ok(())
}

/// Returns an error if the user has neither the constrained permission to impersonate `requested` (`impersonate-on:MODE:VERB`) nor the
/// unconstrained one (`impersonate`). Checks first the permission that allowed the user's last impersonation. If both checks fail, returns
/// the failure of the first one, or that of the unconstrained one if no constrained mode fits `requested`.
fn check_permissions(server: &Server, call: &Call, requested: &User) -> Result<(), Failure> {
    let impersonators = || server.authentication.impersonators.0.lock().unwrap_or_else(PoisonError::into_inner);
    let constrained = || check_constrained(server, call, requested);
    let legacy = || check_legacy(server, call, requested);
    if impersonators().contains(&call.user.name) {
        let Err(failure) = legacy() else { return Ok(()) };
        constrained().map_err(|_| failure)?;
        impersonators().remove(&call.user.name);
    } else if let Err(failure) = constrained() {
        legacy().map_err(|legacy| failure.unwrap_or(legacy))?;
        impersonators().insert(call.user.name.clone());
    }
    Ok(())
}

/// Adds the groups that follow from the name of an impersonated user: those of a ServiceAccount, if the headers name no group, and
/// `system:authenticated`, or `system:unauthenticated` for `system:anonymous`, if the user has neither.
fn with_implied_groups(mut user: User) -> User {
    if user.groups.is_empty()
        && let Some((namespace, name)) = parse_service_account(&user.name)
    {
        user.groups = User::service_account(namespace, name, "").groups;
    }
    let authentication_groups = [AUTHENTICATED, UNAUTHENTICATED];
    if !user.groups.iter().any(|group| authentication_groups.contains(&group.as_str())) {
        let is_authenticated = user.name != "system:anonymous";
        user.groups.push(if is_authenticated { AUTHENTICATED } else { UNAUTHENTICATED }.to_owned());
    }
    user
}

/// Checks the constrained permission to impersonate (KEP-5284): `impersonate-on:MODE:VERB` on the target of the request, and
/// `impersonate:MODE` on the name, each group, each extra value and the uid of `requested`. The mode follows from the name. The error is
/// `None` if no mode fits: a ServiceAccount or node with groups, extra values or a uid needs the unconstrained permission.
fn check_constrained(server: &Server, call: &Call, requested: &User) -> Result<(), Option<Failure>> {
    let only_name = requested.groups.is_empty() && requested.uid.is_empty() && requested.extra.is_empty();
    let (mode, target) = match (parse_service_account(&requested.name), requested.name.strip_prefix(NODE_PREFIX)) {
        (Some((namespace, name)), _) if only_name => {
            ("serviceaccount", resource_target("serviceaccounts", namespace, "", name))
        }
        (None, Some(node)) if only_name => ("arbitrary-node", resource_target("nodes", "", "", node)),
        (None, None) => ("user-info", resource_target("users", "", "", &requested.name)),
        _ => return Err(None),
    };
    let attributes = Attributes::of_call(call);
    let verb = format!("impersonate-on:{mode}:{}", attributes.verb);
    check_permission(server, Attributes { verb: &verb, ..attributes }, "").map_err(Some)?;
    let verb = format!("impersonate:{mode}");
    let require = |target, why: &str| {
        check_permission(server, Attributes { user: &call.user, verb: &verb, target }, why).map_err(Some)
    };
    require(target, "")?;
    for group in &requested.groups {
        let why = if group == MASTERS { "impersonating the system:masters group is not allowed" } else { "" };
        require(resource_target("groups", "", "", group), why)?;
    }
    for (key, values) in &requested.extra {
        if !key.split_once('/').is_some_and(|(domain, path)| domain.contains('.') && !path.is_empty()) {
            let why = format!(
                "impersonating an invalid key in extra is not allowed: extra.key: Invalid value: {key:?}: must be a domain-prefixed path (such as \"acme.io/foo\")"
            );
            require(resource_target("userextras", "", "", ""), &why)?;
        }
        values.iter().try_for_each(|value| require(resource_target("userextras", "", key, value), ""))?;
    }
    if !requested.uid.is_empty() {
        require(resource_target("uids", "", "", &requested.uid), "")?;
    }
    Ok(())
}

/// Checks the unconstrained permission to impersonate: the verb `impersonate` on the name, each group, each extra value and the uid of
/// `requested`.
fn check_legacy(server: &Server, call: &Call, requested: &User) -> Result<(), Failure> {
    let require = |target| check_permission(server, Attributes { user: &call.user, verb: "impersonate", target }, "");
    let core =
        |resource, namespace, name| AccessTarget::Resource { group: "", namespace, resource, subresource: "", name };
    match parse_service_account(&requested.name) {
        Some((namespace, name)) => require(core("serviceaccounts", namespace, name))?,
        None => require(core("users", "", &requested.name))?,
    }
    requested.groups.iter().try_for_each(|group| require(core("groups", "", group)))?;
    for (key, values) in &requested.extra {
        values.iter().try_for_each(|value| require(resource_target("userextras", "", key, value)))?;
    }
    if requested.uid.is_empty() { Ok(()) } else { require(resource_target("uids", "", "", &requested.uid)) }
}

/// Returns a 403 error if RBAC denies a request with these attributes. A `why` that is not empty is the reason why the request is always
/// denied; RBAC is not asked then.
fn check_permission(server: &Server, attributes: Attributes<'_>, why: &str) -> Result<(), Failure> {
    if !why.is_empty() {
        return Err(attributes.forbidden(why));
    }
    match decide(server, &attributes) {
        Decision::Allowed(_) => Ok(()),
        Decision::Denied(why) => Err(attributes.forbidden(&why)),
    }
}

/// Returns a resource of the group `authentication.k8s.io` as the target of a permission check.
fn resource_target<'a>(resource: &'a str, namespace: &'a str, subresource: &'a str, name: &'a str) -> AccessTarget<'a> {
    AccessTarget::Resource { group: GROUP, namespace, resource, subresource, name }
}

/// Returns the namespace and name of the ServiceAccount that a user name stands for; `None` for another user.
fn parse_service_account(name: &str) -> Option<(&str, &str)> {
    let (namespace, name) = name.strip_prefix(SERVICE_ACCOUNT_PREFIX)?.split_once(':')?;
    (!namespace.is_empty() && !name.is_empty() && !name.contains(':')).then_some((namespace, name))
}

/// Formats a user as Go's `%#v` does.
fn go_syntax(user: &User) -> String {
    let list = |values: &[String]| values.iter().map(|value| format!("{value:?}")).collect::<Vec<_>>().join(", ");
    let slice =
        |values: &[String]| if values.is_empty() { "(nil)".to_owned() } else { format!("{{{}}}", list(values)) };
    let extra = user.extra.iter().map(|(key, values)| format!("{key:?}:[]string{}", slice(values)));
    let extra = extra.collect::<Vec<_>>().join(", ");
    let extra = if extra.is_empty() { "(nil)".to_owned() } else { format!("{{{extra}}}") };
    format!(
        "&user.DefaultInfo{{Name:{:?}, UID:{:?}, Groups:[]string{}, Extra:map[string][]string{extra}}}",
        user.name,
        user.uid,
        slice(&user.groups)
    )
}
