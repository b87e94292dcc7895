//! `CandidateIdentity`: the identity of a process as the holder of a Lease. It is unique per process, and shows in which Pod the process
//! runs.

use crate::{environment::Environment, shard::hash::Fnv1a};

/// The identity of a candidate: `<host>_<uid of the Pod>_<random>`, without the uid outside a Pod.
///
/// The random part makes it unique per process, as client-go requires. A container that was restarted recognizes the identity of
/// its predecessor by host and uid, so it need not wait until the lease of a dead process expires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CandidateIdentity {
    text: String,
    /// The part that all processes of the Pod share, if the process runs in a Pod.
    pod: Option<String>,
}

impl CandidateIdentity {
    /// Returns the identity of a process from its host, the uid of its Pod, and a random number: `<host>_<uid>_<random>`, or
    /// `<host>_<random>` outside a Pod.
    pub(crate) fn new(host: &str, pod_uid: Option<&str>, random: u64) -> Self {
        let pod = pod_uid.filter(|uid| !uid.is_empty()).map(|uid| format!("{host}_{uid}_"));
        let text = match &pod {
            Some(pod) => format!("{pod}{random:016x}"),
            None => format!("{host}_{random:016x}"),
        };
        Self { text, pod }
    }

    /// Returns the identity of this process: the Pod by `POD_NAME` and `POD_UID`, the host otherwise.
    pub(crate) fn of_process(environment: &Environment) -> Self {
        let pod_uid = std::env::var("POD_UID").ok();
        Self::new(&host(), pod_uid.as_deref(), environment.random())
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the name of this process as a member (a replica to which shards are assigned), which is a part of the name of its own Lease.
    /// All processes of a Pod have the same name, so a restarted container is the same member.
    pub(crate) fn member_name(&self) -> String {
        let text = self.pod.as_ref().unwrap_or(&self.text);
        format!("{:016x}", Fnv1a::new().add(text.as_bytes()).value())
    }

    /// Returns whether a holder is this process.
    pub(crate) fn is(&self, holder: &str) -> bool {
        self.text == holder
    }

    /// Returns whether a holder is another process of the same Pod, so an earlier one: its container was restarted.
    pub(crate) fn is_predecessor(&self, holder: &str) -> bool {
        let has_pod = self.pod.as_deref().is_some_and(|pod| holder.starts_with(pod));
        has_pod && !self.is(holder)
    }
}

/// Returns the name of the Pod, else the name of the machine, else `unknown`.
fn host() -> String {
    let variable = |name| std::env::var(name).ok();
    let file = || std::fs::read_to_string("/etc/hostname").ok();
    let host = variable("POD_NAME").or_else(|| variable("HOSTNAME")).or_else(|| variable("COMPUTERNAME")).or_else(file);
    host.map(|host| host.trim().to_owned()).filter(|host| !host.is_empty()).unwrap_or_else(|| "unknown".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_restarted_container_recognizes_only_an_earlier_process_of_its_pod() {
        let earlier = CandidateIdentity::new("shop-1", Some("uid-1"), 1);
        let later = CandidateIdentity::new("shop-1", Some("uid-1"), 2);
        assert_eq!(earlier.as_str(), "shop-1_uid-1_0000000000000001");
        assert!(later.is_predecessor(earlier.as_str()) && !later.is(earlier.as_str()));
        assert!(later.is(later.as_str()) && !later.is_predecessor(later.as_str()));
        for other in [CandidateIdentity::new("shop-1", Some("uid-2"), 2), CandidateIdentity::new("shop-1", None, 2)] {
            assert!(!other.is_predecessor(earlier.as_str()), "{other:?}");
        }
    }

    #[test]
    fn outside_a_pod_every_process_is_another_candidate() {
        for uid in [None, Some("")] {
            let (one, other) = (CandidateIdentity::new("desk", uid, 1), CandidateIdentity::new("desk", uid, 2));
            assert_eq!(one.as_str(), "desk_0000000000000001");
            assert!(!other.is(one.as_str()) && !other.is_predecessor(one.as_str()));
        }
    }
}
