//! `ValidatingWebhook` and `DefaultingWebhook`: webhooks that read other objects, with declared permissions.

use super::{admission::Admission, denied::Denied, object_reader::ObjectReader};
use crate::{kind::Typed, shape::Provisioner};
use serde::{Serialize, de::DeserializeOwned};

/// A validating webhook that reads other objects. The attribute `access` declares what it reads, and becomes rules of the generated
/// role.
///
/// [`Operator::validates_by`](crate::Operator::validates_by) adds it to an operator. A function that reads nothing needs no type, see
/// [`Operator::validates`](crate::Operator::validates).
///
/// # Example
///
/// ```
/// # use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
/// use opgen::{prelude::*, webhook::{Admission, Denied, ObjectReader, ValidatingWebhook}};
///
/// // Refuses large ConfigMaps in namespaces without the label `large=allowed`.
/// #[derive(Provisioner)]
/// #[provisioner(access(Namespace: get))]
/// struct CheckSize;
///
/// impl ValidatingWebhook for CheckSize {
///     type Object = ConfigMap;
///
///     async fn validate(request: &Admission<ConfigMap>, reader: &ObjectReader<Self>) -> Result<(), Denied> {
///         if request.object().data.as_ref().is_none_or(|data| data.len() < 100) {
///             return Ok(());
///         }
///         let namespace = reader.find::<Namespace>(request.namespace().unwrap_or_default()).await?;
///         let labels = namespace.and_then(|namespace| namespace.metadata.labels).unwrap_or_default();
///         if labels.get("large").is_some_and(|value| value == "allowed") {
///             return Ok(());
///         }
///         Err(Denied::invalid("data", "has 100 entries or more, which this namespace does not allow"))
///     }
/// }
///
/// let operator = Operator::new("sizes").validates_by::<CheckSize>(|webhook| webhook);
/// # drop(operator);
/// ```
pub trait ValidatingWebhook: Provisioner {
    /// The objects that are validated.
    type Object: Typed + DeserializeOwned;

    /// Allows or refuses a write.
    ///
    /// # Errors
    /// The refusal, or a failure, for which the failure policy decides.
    fn validate(
        request: &Admission<Self::Object>,
        reader: &ObjectReader<Self>,
    ) -> impl Future<Output = Result<(), Denied>> + Send;
}

/// A webhook that sets defaults and reads other objects for that. The attribute `access` declares what it reads, and becomes rules of
/// the generated role.
///
/// [`Operator::defaults_by`](crate::Operator::defaults_by) adds it to an operator. A function that reads nothing needs no type, see
/// [`Operator::defaults`](crate::Operator::defaults).
///
/// # Example
///
/// ```
/// # use k8s_openapi::api::{core::v1::PersistentVolumeClaim, storage::v1::StorageClass};
/// use opgen::{prelude::*, webhook::{Admission, DefaultingWebhook, Denied, ObjectReader}};
///
/// // Sets the storage class of claims without one.
/// #[derive(Provisioner)]
/// #[provisioner(access(StorageClass: list))]
/// struct SetStorageClass;
///
/// impl DefaultingWebhook for SetStorageClass {
///     type Object = PersistentVolumeClaim;
///
///     async fn set_defaults(
///         _: &Admission<PersistentVolumeClaim>,
///         claim: &mut PersistentVolumeClaim,
///         reader: &ObjectReader<Self>,
///     ) -> Result<(), Denied> {
///         let spec = claim.spec.get_or_insert_default();
///         if spec.storage_class_name.is_none() {
///             let classes = reader.list::<StorageClass>("speed=fast").await?;
///             spec.storage_class_name = classes.into_iter().find_map(|class| class.metadata.name);
///         }
///         Ok(())
///     }
/// }
///
/// let operator = Operator::new("claims").defaults_by::<SetStorageClass>(|webhook| webhook);
/// # drop(operator);
/// ```
pub trait DefaultingWebhook: Provisioner {
    /// The objects that get defaults.
    type Object: Typed + DeserializeOwned + Serialize + Clone;

    /// Sets the defaults of an object, or refuses the write. It must have the same result if it is called twice.
    ///
    /// # Errors
    /// The refusal, or a failure, for which the failure policy decides.
    fn set_defaults(
        request: &Admission<Self::Object>,
        object: &mut Self::Object,
        reader: &ObjectReader<Self>,
    ) -> impl Future<Output = Result<(), Denied>> + Send;
}
