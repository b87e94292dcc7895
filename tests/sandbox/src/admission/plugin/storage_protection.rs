//! Implements `StorageObjectInUseProtection`: adds the protection finalizer to new PersistentVolumeClaims, PersistentVolumes and
//! VolumeAttributesClasses.

use crate::{
    admission::{Operation, Review},
    object,
};

/// The finalizer that protects a claim used by a Pod.
pub(crate) const CLAIM: &str = "kubernetes.io/pvc-protection";

/// The finalizer that protects a volume bound to a claim.
pub(crate) const VOLUME: &str = "kubernetes.io/pv-protection";

/// The finalizer that protects a VolumeAttributesClass used by a volume.
const CLASS: &str = "kubernetes.io/vac-protection";

/// Adds the protection finalizer to a new PersistentVolumeClaim, PersistentVolume or VolumeAttributesClass.
pub(crate) fn mutate(review: &mut Review<'_>) {
    let finalizer = if review.writes(Operation::Create, "", "persistentvolumeclaims") {
        CLAIM
    } else if review.writes(Operation::Create, "", "persistentvolumes") {
        VOLUME
    } else if review.writes(Operation::Create, "storage.k8s.io", "volumeattributesclasses") {
        CLASS
    } else {
        return;
    };
    let mut finalizers: Vec<String> = object::finalizers(&review.object).into_iter().map(str::to_owned).collect();
    if !finalizers.iter().any(|existing| existing == finalizer) {
        finalizers.push(finalizer.to_owned());
        object::set_finalizers(&mut review.object, finalizers);
    }
}
