//! The methods of `Operator` that add admission webhooks.

use super::operator::Operator;
use crate::{
    kind::Typed,
    webhook::handler::AdmissionHandler,
    webhook::{Admission, Denied, Mode, Webhook, WebhookDescription, call, handler::AdmissionFunction},
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
        self.with_webhook::<K>(Mode::Validate, settings, call::validating(check))
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
        self.with_webhook::<K>(Mode::Default, settings, call::defaulting(set))
    }

    fn with_webhook<K: Typed>(
        mut self,
        mode: Mode,
        settings: impl FnOnce(Webhook) -> Webhook,
        function: AdmissionFunction,
    ) -> Self {
        let description = WebhookDescription { mode, kind: K::names(), webhook: settings(Webhook::default()) };
        self.extensions.webhooks.push(AdmissionHandler::new(description, function));
        self
    }
}
