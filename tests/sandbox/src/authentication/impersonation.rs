//! Implements impersonation by the `Impersonate-*` headers.
//!
//! A user may impersonate another for all requests (`impersonate`) or, since Kubernetes 1.36, for some
//! (`impersonate-on:MODE:VERB`, KEP-5284).

use std::sync::PoisonError;

use http::HeaderMap;
use percent_encoding::percent_decode_str;

use super::credentials::AUTHENTICATED;
use crate::{
    authorization::{About, Attributes, Decision, decide},
    call::Call,
    failure::Failure,
    server::Server,
    user::{MASTERS, User},
};

const GROUP: &str = "authentication.k8s.io";
const UNAUTHENTICATED: &str = "system:unauthenticated";
const ACCOUNT: &str = "system:serviceaccount:";
const NODE: &str = "system:node:";

/// The user that the headers of a request name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ImpersonationHeaders(User);

impl ImpersonationHeaders {
    /// Parses the headers; `None` if there are none.
    pub(crate) fn of(headers: &HeaderMap) -> Option<Self> {
        let mut user = User { name: String::new(), uid: String::new(), groups: Vec::new(), extra: Vec::new() };
        let mut any = false;
        for (name, value) in headers {
            let Some(what) = name.as_str().strip_prefix("impersonate-") else { continue };
            let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
            match what {
                "user" => user.name = value,
                "uid" => user.uid = value,
                "group" => user.groups.push(value),
                _ => {
                    let Some(key) = what.strip_prefix("extra-") else { continue };
                    let key = percent_decode_str(key).decode_utf8_lossy().into_owned();
                    match user.extra.iter_mut().find(|(own, _)| *own == key) {
                        Some((_, values)) => values.push(value),
                        None => user.extra.push((key, vec![value])),
                    }
                }
            }
            any = true;
        }
        user.extra.sort();
        any.then_some(Self(user))
    }
}

/// Replaces the user of the request by the one that its headers name, if the request's user may impersonate that one.
pub(crate) fn impersonate(
    server: &Server,
    call: &mut Call,
    wanted: Option<ImpersonationHeaders>,
) -> Result<(), Failure> {
    let Some(ImpersonationHeaders(wanted)) = wanted else { return Ok(()) };
    if wanted.name.is_empty() {
        let why = format!("requested {} without impersonating a user name", go_syntax(&wanted));
        return Err(Failure::bad_request(why));
    }
    if !call.user.is_master() {
        check_all(server, call, &wanted)?;
    }
    call.user = completed(wanted);
    Ok(())
}

/// Checks the constrained and the unconstrained right to impersonate. The right that allowed the user's last
/// impersonation is checked first, and its failure is the one returned.
fn check_all(server: &Server, call: &Call, wanted: &User) -> Result<(), Failure> {
    let remembered = || server.authentication.impersonators.0.lock().unwrap_or_else(PoisonError::into_inner);
    let constrained = || check_constrained(server, call, wanted);
    let legacy = || check_legacy(server, call, wanted);
    if remembered().contains(&call.user.name) {
        let Err(refused) = legacy() else { return Ok(()) };
        constrained().map_err(|_| refused)?;
        remembered().remove(&call.user.name);
    } else if let Err(refused) = constrained() {
        legacy().map_err(|legacy| refused.unwrap_or(legacy))?;
        remembered().insert(call.user.name.clone());
    }
    Ok(())
}

/// Adds the groups that the name implies.
fn completed(mut user: User) -> User {
    if user.groups.is_empty()
        && let Some((namespace, name)) = account(&user.name)
    {
        user.groups = User::service_account(namespace, name, "").groups;
    }
    let of_all = [AUTHENTICATED, UNAUTHENTICATED];
    if !user.groups.iter().any(|group| of_all.contains(&group.as_str())) {
        let known = user.name != "system:anonymous";
        user.groups.push(if known { AUTHENTICATED } else { UNAUTHENTICATED }.to_owned());
    }
    user
}

/// Checks the right to impersonate the user in this request; the error is `None` if there is no such right to check.
fn check_constrained(server: &Server, call: &Call, wanted: &User) -> Result<(), Option<Failure>> {
    let alone = wanted.groups.is_empty() && wanted.uid.is_empty() && wanted.extra.is_empty();
    let (mode, about) = match (account(&wanted.name), wanted.name.strip_prefix(NODE)) {
        (Some((namespace, name)), _) if alone => ("serviceaccount", resource("serviceaccounts", namespace, "", name)),
        (None, Some(node)) if alone => ("arbitrary-node", resource("nodes", "", "", node)),
        (None, None) => ("user-info", resource("users", "", "", &wanted.name)),
        _ => return Err(None),
    };
    let attributes = Attributes::of(call);
    let verb = format!("impersonate-on:{mode}:{}", attributes.verb);
    check(server, Attributes { verb: &verb, ..attributes }, "")?;
    let verb = format!("impersonate:{mode}");
    let may = |about, why: &str| check(server, Attributes { user: &call.user, verb: &verb, about }, why);
    may(about, "")?;
    for group in &wanted.groups {
        let why = if group == MASTERS { "impersonating the system:masters group is not allowed" } else { "" };
        may(resource("groups", "", "", group), why)?;
    }
    for (key, values) in &wanted.extra {
        if !key.split_once('/').is_some_and(|(domain, path)| domain.contains('.') && !path.is_empty()) {
            let why = format!(
                "impersonating an invalid key in extra is not allowed: extra.key: Invalid value: {key:?}: must be a domain-prefixed path (such as \"acme.io/foo\")"
            );
            may(resource("userextras", "", "", ""), &why)?;
        }
        values.iter().try_for_each(|value| may(resource("userextras", "", key, value), ""))?;
    }
    if !wanted.uid.is_empty() {
        may(resource("uids", "", "", &wanted.uid), "")?;
    }
    Ok(())
}

/// Checks the right to impersonate the user in all requests.
fn check_legacy(server: &Server, call: &Call, wanted: &User) -> Result<(), Failure> {
    let may = |about| match check(server, Attributes { user: &call.user, verb: "impersonate", about }, "") {
        Err(Some(failure)) => Err(failure),
        _ => Ok(()),
    };
    let core = |resource, namespace, name| About::Resource { group: "", namespace, resource, subresource: "", name };
    match account(&wanted.name) {
        Some((namespace, name)) => may(core("serviceaccounts", namespace, name))?,
        None => may(core("users", "", &wanted.name))?,
    }
    wanted.groups.iter().try_for_each(|group| may(core("groups", "", group)))?;
    for (key, values) in &wanted.extra {
        values.iter().try_for_each(|value| may(resource("userextras", "", key, value)))?;
    }
    if wanted.uid.is_empty() { Ok(()) } else { may(resource("uids", "", "", &wanted.uid)) }
}

/// Checks a right; refuses it without a check if a reason is passed.
fn check(server: &Server, attributes: Attributes<'_>, why: &str) -> Result<(), Option<Failure>> {
    if !why.is_empty() {
        return Err(Some(attributes.refusal(why)));
    }
    match decide(server, &attributes) {
        Decision::Allowed(_) => Ok(()),
        Decision::Denied(why) => Err(Some(attributes.refusal(&why))),
    }
}

fn resource<'a>(resource: &'a str, namespace: &'a str, subresource: &'a str, name: &'a str) -> About<'a> {
    About::Resource { group: GROUP, namespace, resource, subresource, name }
}

/// Returns namespace and name of the ServiceAccount that a user name stands for.
fn account(name: &str) -> Option<(&str, &str)> {
    let (namespace, name) = name.strip_prefix(ACCOUNT)?.split_once(':')?;
    (!namespace.is_empty() && !name.is_empty() && !name.contains(':')).then_some((namespace, name))
}

/// Formats a user as Go's `%#v` does.
fn go_syntax(user: &User) -> String {
    let list = |words: &[String]| words.iter().map(|word| format!("{word:?}")).collect::<Vec<_>>().join(", ");
    let slice = |words: &[String]| if words.is_empty() { "(nil)".to_owned() } else { format!("{{{}}}", list(words)) };
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
