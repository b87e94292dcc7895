//! `Webhook`: the settings of one webhook, and its name and path, which follow from its kind.

use super::review::Operation;
use crate::{
    dns_name::{is_dns_label, is_dns_subdomain},
    kind::Kind,
    shape::Access,
};
use k8s_openapi::{api::admissionregistration::v1::MatchCondition, apimachinery::pkg::apis::meta::v1::LabelSelector};
use std::{collections::BTreeSet, fmt, time::Duration};

/// The default of [`Webhook::timeout`]: 5 s.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(5);
/// The maximum timeout that the API server accepts, in seconds.
const MAX_TIMEOUT_SECONDS: u64 = 30;

/// What the API server does with a write if a webhook fails or can't be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FailurePolicy {
    /// It refuses the write.
    Fail,
    /// It ignores the webhook.
    Ignore,
}

impl FailurePolicy {
    /// Returns the name in the API.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Fail => "Fail",
            Self::Ignore => "Ignore",
        }
    }
}

/// The settings of a webhook.
///
/// # Example
///
/// ```
/// # use k8s_openapi::api::core::v1::Pod;
/// use opgen::{prelude::*, webhook::{Admission, Denied, Operation}};
/// use std::time::Duration;
///
/// fn check_image(request: &Admission<Pod>) -> Result<(), Denied> {
///     let containers = request.object().spec.iter().flat_map(|spec| &spec.containers);
///     Denied::all(containers.filter(|container| container.image.is_none()).map(|container| {
///         Denied::required("spec.containers", format!("container {} has no image", container.name))
///     }))
/// }
///
/// let operator = Operator::new("images").validates_with(check_image, |webhook| {
///     webhook.operations([Operation::Create]).timeout(Duration::from_secs(2))
/// });
/// # drop(operator);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Webhook {
    pub(crate) name: Option<String>,
    pub(crate) operations: BTreeSet<Operation>,
    pub(crate) subresources: BTreeSet<String>,
    pub(crate) match_conditions: Vec<MatchCondition>,
    pub(crate) object_selector: LabelSelector,
    pub(crate) namespace_selector: LabelSelector,
    pub(crate) failure_policy: Option<FailurePolicy>,
    pub(crate) timeout: Duration,
}

impl Default for Webhook {
    fn default() -> Self {
        Self {
            name: None,
            operations: [Operation::Create, Operation::Update].into(),
            subresources: BTreeSet::new(),
            match_conditions: Vec::new(),
            object_selector: LabelSelector::default(),
            namespace_selector: LabelSelector::default(),
            failure_policy: None,
            timeout: DEFAULT_TIMEOUT,
        }
    }
}

impl Webhook {
    /// Sets a name that distinguishes several webhooks of one kind: a DNS label. It becomes part of the name and the path of the webhook.
    /// Default: none.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets the writes for which the webhook is called. A defaulting webhook is not called for deletions. Default: creations and updates.
    #[must_use]
    pub fn operations(mut self, operations: impl IntoIterator<Item = Operation>) -> Self {
        self.operations = operations.into_iter().collect();
        self
    }

    /// Calls the webhook for writes of these subresources as well, for example `status`. The API server must send the object itself
    /// for them; `scale`, `eviction` and `binding` have kinds of their own and are errors. Default: none.
    #[must_use]
    pub fn subresources<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.subresources = names.into_iter().map(Into::into).collect();
        self
    }

    /// Calls the webhook only for writes that satisfy this CEL expression, of the variables `object`, `oldObject`, `request` and
    /// `authorizer`. Several conditions must all be satisfied. The name is for messages of the API server. Default: none.
    #[must_use]
    pub fn match_condition(mut self, name: impl Into<String>, expression: impl Into<String>) -> Self {
        self.match_conditions.push(MatchCondition { name: name.into(), expression: expression.into() });
        self
    }

    /// Calls the webhook only for objects whose labels fit, before or after the write. Users can avoid the webhook by another label.
    /// Default: all objects.
    #[must_use]
    pub fn object_selector(mut self, selector: LabelSelector) -> Self {
        self.object_selector = selector;
        self
    }

    /// Calls the webhook only for objects in namespaces whose labels fit. For a kind that the operator doesn't define, the namespace
    /// of the operator is excluded in any case, so that the operator can't prevent its own start. Default: all namespaces.
    #[must_use]
    pub fn namespace_selector(mut self, selector: LabelSelector) -> Self {
        self.namespace_selector = selector;
        self
    }

    /// Sets what the API server does if the webhook fails. Default: [`FailurePolicy::Fail`] for kinds that the operator defines, and
    /// [`FailurePolicy::Ignore`] for all others, since the cluster works on without the operator.
    #[must_use]
    pub fn failure_policy(mut self, policy: FailurePolicy) -> Self {
        self.failure_policy = Some(policy);
        self
    }

    /// Sets the time after which a call fails: 1 to 30 s, in whole seconds. Each write waits for it, so short times are better.
    /// Default: 5 s.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }
}

/// The type of a webhook: whether it only validates objects, or also changes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mode {
    /// Refuse it.
    Validate,
    /// Change or refuse it.
    Default,
}

impl Mode {
    /// Returns the first part of names and paths.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Validate => "validate",
            Self::Default => "default",
        }
    }
}

/// A webhook without its function.
#[derive(Clone, Debug)]
pub(crate) struct WebhookDescription {
    pub(crate) mode: Mode,
    pub(crate) kind: Kind,
    pub(crate) webhook: Webhook,
    /// The permissions for its reads.
    pub(crate) permissions: &'static [Access],
}

/// Why a webhook can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("webhook {webhook}: {problem}")]
pub struct WebhookError {
    webhook: String,
    problem: String,
}

impl WebhookDescription {
    /// Returns the plural and the group of the kind, such as `webapps.demo.example.com`, for the name and path of the webhook. A group
    /// without a dot (of a built-in kind) gets a domain, since the API server requires names of webhooks with at least three labels.
    fn resource(&self) -> String {
        let Kind { group, plural, .. } = &self.kind;
        match group.as_ref() {
            "" => format!("{plural}.core.opgen.dev"),
            group if !group.contains('.') => format!("{plural}.{group}.opgen.dev"),
            group => format!("{plural}.{group}"),
        }
    }

    /// Returns the name of the webhook: `validate-webapps.demo.example.com`, or `validate-size.webapps.demo.example.com` with a name.
    pub(crate) fn name(&self) -> String {
        let (mode, resource) = (self.mode.as_str(), self.resource());
        match &self.webhook.name {
            Some(name) => format!("{mode}-{name}.{resource}"),
            None => format!("{mode}-{resource}"),
        }
    }

    /// Returns the path at which the webhook is called: `/validate/webapps.demo.example.com`, with a name `/…/size` behind it.
    pub(crate) fn path(&self) -> String {
        let (mode, resource) = (self.mode.as_str(), self.resource());
        let name = self.webhook.name.iter().map(|name| format!("/{name}")).collect::<String>();
        format!("/{mode}/{resource}{name}")
    }

    /// Checks the settings of the webhook, so that mistakes are reported before the API server sees the configuration.
    ///
    /// # Errors
    /// Fails for the first setting that the API server would refuse or that has no effect.
    pub(crate) fn check(&self) -> Result<(), WebhookError> {
        let Webhook { name, operations, subresources, match_conditions, timeout, .. } = &self.webhook;
        let fail =
            |problem: fmt::Arguments<'_>| Err(WebhookError { webhook: self.name(), problem: problem.to_string() });
        if name.as_ref().is_some_and(|name| !is_dns_label(name)) || !is_dns_subdomain(&self.name()) {
            return fail(format_args!("its name is no DNS label; use `a` to `z`, `0` to `9` and `-`"));
        }
        if timeout.subsec_nanos() != 0 || !(1..=MAX_TIMEOUT_SECONDS).contains(&timeout.as_secs()) {
            return fail(format_args!("its timeout is {timeout:?}; use 1 to {MAX_TIMEOUT_SECONDS} whole seconds"));
        }
        if operations.is_empty() {
            return fail(format_args!("it has no operations; use creations and updates"));
        }
        if self.mode == Mode::Default && operations.contains(&Operation::Delete) {
            return fail(format_args!("it sets defaults, but is called for deletions; use creations and updates"));
        }
        // For these subresources the API server sends an object of another kind, such as `Scale`, which can't be decoded as the kind.
        let of_other_kinds =
            ["approval", "attach", "binding", "eviction", "exec", "portforward", "proxy", "scale", "token"];
        if let Some(name) = subresources.iter().find(|name| of_other_kinds.contains(&name.as_str())) {
            return fail(format_args!("subresource `{name}` has objects of another kind; remove it"));
        }
        if let Some(access) = self.permissions.iter().find(|access| !access.is_read()) {
            return fail(format_args!("it declares `{access}`, but a webhook only reads; use `get` and `list`"));
        }
        let mut names = BTreeSet::new();
        if let Some(twice) = match_conditions.iter().find(|condition| !names.insert(&condition.name)) {
            return fail(format_args!("there are two match conditions `{}`; rename one", twice.name));
        }
        Ok(())
    }

    /// Checks all webhooks of an operator.
    ///
    /// # Errors
    /// Fails for the first webhook with an invalid setting, and for two webhooks with the same name.
    pub(crate) fn check_all<'a>(descriptions: impl IntoIterator<Item = &'a Self>) -> Result<(), WebhookError> {
        let mut names = BTreeSet::new();
        for description in descriptions {
            description.check()?;
            let name = description.name();
            if !names.insert(name.clone()) {
                let problem = "there are two webhooks of this name; give one a `Webhook::name`".to_owned();
                return Err(WebhookError { webhook: name, problem });
            }
        }
        Ok(())
    }
}
