//! The kinds of ippool. They equal those of whereabouts, so this operator can replace another one.

mod ip_pool;
mod network_attachment_definition;
mod node_slice_pool;
mod overlapping_range_ip_reservation;

pub use ip_pool::{AllocatedIp, IPPool, IPPoolSpec, IPPoolStatus, IpAllocation};
pub use network_attachment_definition::NetworkAttachmentDefinition;
pub use node_slice_pool::{NodeSliceAllocation, NodeSlicePool, NodeSlicePoolSpec, NodeSlicePoolStatus};
pub use overlapping_range_ip_reservation::{OverlappingRangeIPReservation, OverlappingRangeIPReservationSpec};
