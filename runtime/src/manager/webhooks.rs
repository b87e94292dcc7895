//! The methods of `Operator` that add admission webhooks and policies.

use super::operator::Operator;
use crate::{
    client::Client,
    kind::Typed,
    policy::{MutatingPolicy, ValidatingPolicy},
    shape::Access,
    webhook::{
        Admission, DefaultingWebhook, Denied, Mode, ObjectReader, ValidatingWebhook, Webhook, WebhookDescription, call,
        handler::{AdmissionFunction, AdmissionHandler},
    },
};
use futures::future::ready;
use serde::{Serialize, de::DeserializeOwned};

impl Operator {
    /// Validates the objects of a kind by a function, before the API server stores them. The kind is one of the operator, or any other
    /// whose type has its names, for example `Pod`.
    ///
    /// The function sees creations and updates, and only reads. A rule of the schema is better where it suffices, since it works without
    /// the operator. An object that can't be decoded as the type is refused, and the message names the field. A write that only removes
    /// finalizers of an object that is being deleted is allowed without a call. A panic of the function is logged, and the failure
    /// policy decides.
    ///
    /// ```
    /// # use k8s_openapi::api::core::v1::ConfigMap;
    /// use opgen::{prelude::*, webhook::{Admission, Denied}};
    ///
    /// fn check_name(request: &Admission<ConfigMap>) -> Result<(), Denied> {
    ///     if request.name().starts_with("tmp-") {
    ///         return Err(Denied::invalid("metadata.name", "must not begin with `tmp-`"));
    ///     }
    ///     Ok(())
    /// }
    ///
    /// let operator = Operator::new("names").validates(check_name);
    /// # drop(operator);
    /// ```
    #[must_use]
    pub fn validates<K>(self, check: impl Fn(&Admission<K>) -> Result<(), Denied> + Send + Sync + 'static) -> Self
    where
        K: Typed + DeserializeOwned,
    {
        self.validates_with(check, |webhook| webhook)
    }

    /// Validates like [`Operator::validates`], with settings.
    #[must_use]
    pub fn validates_with<K>(
        self,
        check: impl Fn(&Admission<K>) -> Result<(), Denied> + Send + Sync + 'static,
        settings: impl FnOnce(Webhook) -> Webhook,
    ) -> Self
    where
        K: Typed + DeserializeOwned,
    {
        self.validates_async(move |admission| ready(check(&admission)), settings)
    }

    /// Validates like [`Operator::validates_with`], by an asynchronous function, for example with a lookup in another system. Each write
    /// waits for it.
    #[must_use]
    pub fn validates_async<K, F>(
        self,
        check: impl Fn(Admission<K>) -> F + Send + Sync + 'static,
        settings: impl FnOnce(Webhook) -> Webhook,
    ) -> Self
    where
        K: Typed + DeserializeOwned,
        F: Future<Output = Result<(), Denied>> + Send + 'static,
    {
        self.with_webhook::<K>(
            Mode::Validate,
            settings,
            &[],
            call::validating(move |admission, _: &_| check(admission)),
        )
    }

    /// Sets defaults of the objects of a kind by a function, before the API server validates and stores them. Fields of the object that
    /// the type doesn't have are kept. Use it for defaults that depend on other fields or on the user; the schema can have constant
    /// ones.
    ///
    /// The function sees creations and updates, and gets the same result if it is called twice. Otherwise it is as in
    /// [`Operator::validates`].
    ///
    /// ```
    /// # use k8s_openapi::api::core::v1::ConfigMap;
    /// use opgen::{prelude::*, webhook::{Admission, Denied}};
    ///
    /// fn set_creator(request: &Admission<ConfigMap>, config: &mut ConfigMap) -> Result<(), Denied> {
    ///     let user = request.user().username.clone().unwrap_or_default();
    ///     config.data.get_or_insert_default().entry("creator".into()).or_insert(user);
    ///     Ok(())
    /// }
    ///
    /// let operator = Operator::new("creators").defaults(set_creator);
    /// # drop(operator);
    /// ```
    #[must_use]
    pub fn defaults<K>(self, set: impl Fn(&Admission<K>, &mut K) -> Result<(), Denied> + Send + Sync + 'static) -> Self
    where
        K: Typed + DeserializeOwned + Serialize + Clone,
    {
        self.defaults_with(set, |webhook| webhook)
    }

    /// Sets defaults like [`Operator::defaults`], with settings.
    #[must_use]
    pub fn defaults_with<K>(
        self,
        set: impl Fn(&Admission<K>, &mut K) -> Result<(), Denied> + Send + Sync + 'static,
        settings: impl FnOnce(Webhook) -> Webhook,
    ) -> Self
    where
        K: Typed + DeserializeOwned + Serialize + Clone,
    {
        let set = move |admission, mut object| ready(set(&admission, &mut object).map(|()| object));
        self.defaults_async(set, settings)
    }

    /// Sets defaults like [`Operator::defaults_with`], by an asynchronous function, which returns the changed object.
    #[must_use]
    pub fn defaults_async<K, F>(
        self,
        set: impl Fn(Admission<K>, K) -> F + Send + Sync + 'static,
        settings: impl FnOnce(Webhook) -> Webhook,
    ) -> Self
    where
        K: Typed + DeserializeOwned + Serialize + Clone,
        F: Future<Output = Result<K, Denied>> + Send + 'static,
    {
        self.with_webhook::<K>(
            Mode::Default,
            settings,
            &[],
            call::defaulting(move |admission, object, _: &_| set(admission, object)),
        )
    }

    /// Validates the objects of a kind by a type that reads other objects, with declared permissions. Otherwise it is as
    /// [`Operator::validates_with`]; see [`ValidatingWebhook`] for an example.
    #[must_use]
    pub fn validates_by<W: ValidatingWebhook>(self, settings: impl FnOnce(Webhook) -> Webhook) -> Self {
        let check = |request: Admission<W::Object>, client: &Client| {
            let reader = ObjectReader::new(client.clone(), request.namespace());
            async move { W::validate(&request, &reader).await }
        };
        let permissions = const { W::SHAPE.access };
        self.with_webhook::<W::Object>(Mode::Validate, settings, permissions, call::validating(check))
    }

    /// Sets defaults by a type that reads other objects, with declared permissions. Otherwise it is as [`Operator::defaults_with`];
    /// see [`DefaultingWebhook`] for an example.
    #[must_use]
    pub fn defaults_by<W: DefaultingWebhook>(self, settings: impl FnOnce(Webhook) -> Webhook) -> Self {
        let set = |request: Admission<W::Object>, mut object: W::Object, client: &Client| {
            let reader = ObjectReader::new(client.clone(), request.namespace());
            async move { W::set_defaults(&request, &mut object, &reader).await.map(|()| object) }
        };
        let permissions = const { W::SHAPE.access };
        self.with_webhook::<W::Object>(Mode::Default, settings, permissions, call::defaulting(set))
    }

    /// Adds rules for the objects of a kind, which the API server checks without a call of the operator. The manifests contain the
    /// policy. See [`ValidatingPolicy`] for an example.
    #[must_use]
    pub fn validating_policy(mut self, policy: ValidatingPolicy) -> Self {
        self.extensions.policies.validating.push(policy);
        self
    }

    /// Adds changes of the objects of a kind, which the API server makes without a call of the operator. The manifests contain the
    /// policy, which API servers before Kubernetes 1.36 don't know. See [`MutatingPolicy`] for an example.
    #[must_use]
    pub fn mutating_policy(mut self, policy: MutatingPolicy) -> Self {
        self.extensions.policies.mutating.push(policy);
        self
    }

    /// Adds a validating or a defaulting webhook for a kind. `permissions` are those that its function needs to read other objects.
    fn with_webhook<K: Typed>(
        mut self,
        mode: Mode,
        settings: impl FnOnce(Webhook) -> Webhook,
        permissions: &'static [Access],
        function: AdmissionFunction,
    ) -> Self {
        let webhook = settings(Webhook::default());
        let description = WebhookDescription { mode, kind: K::names(), webhook, permissions };
        self.extensions.webhooks.push(AdmissionHandler::new(description, function));
        self
    }
}
