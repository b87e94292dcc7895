//! Writes the status of a pool, except for its conditions.

use ippool_api::{AllocatedIp, IPPoolStatus};

use super::{Cx, survey::Holding};
use crate::range::Range;

/// The counts of a pass.
#[derive(Debug)]
pub(crate) struct Counts {
    pub(crate) orphaned: usize,
    pub(crate) pending: usize,
    pub(crate) reserved: usize,
}

/// Sets the counts and the list of addresses. A status that is up to date is not copied, which would cost as much as the
/// rest of the pass.
pub(crate) fn set(cx: &Cx<'_>, holdings: &[Holding<'_>], range: Option<&Range>, counts: &Counts) {
    let figures = Figures::of(holdings, range, counts);
    let held = cx.object().status.as_ref();
    if held.is_some_and(|held| figures.are_in(held) && lists(held, holdings)) {
        return;
    }
    cx.status(|status| {
        figures.write(status);
        status.allocated_ips = holdings.iter().map(resolved).collect();
    });
}

#[derive(Debug, PartialEq)]
struct Figures {
    /// Sets the first and the last usable address. They are unchanged if the range is invalid.
    ends: Option<[String; 2]>,
    total: i32,
    used: i32,
    free: i32,
    orphaned: i32,
    pending: i32,
    reserved: i32,
}

impl Figures {
    fn of(holdings: &[Holding<'_>], range: Option<&Range>, counts: &Counts) -> Self {
        let (total, used) = (range.map_or(0, Range::total), number(holdings.len()));
        let text = |ip: Option<std::net::IpAddr>| ip.map_or_else(String::new, |ip| ip.to_string());
        let ends = range.map(|range| {
            let (first, last) = range.usable();
            [text(first), text(last)]
        });
        Self {
            ends,
            total,
            used,
            free: total.saturating_sub(used).max(0),
            orphaned: number(counts.orphaned),
            pending: number(counts.pending),
            reserved: number(counts.reserved),
        }
    }

    fn are_in(&self, status: &IPPoolStatus) -> bool {
        let figures = [self.total, self.used, self.free, self.orphaned, self.pending, self.reserved];
        self.ends.as_ref().is_none_or(|[first, last]| *first == status.first_ip && *last == status.last_ip)
            && figures
                == [
                    status.total_ips,
                    status.used_ips,
                    status.free_ips,
                    status.orphaned_ips,
                    status.pending_pods,
                    status.overlapping_reservations,
                ]
    }

    fn write(&self, status: &mut IPPoolStatus) {
        if let Some([first, last]) = &self.ends {
            (status.first_ip, status.last_ip) = (first.clone(), last.clone());
        }
        (status.total_ips, status.used_ips, status.free_ips) = (self.total, self.used, self.free);
        (status.orphaned_ips, status.pending_pods) = (self.orphaned, self.pending);
        status.overlapping_reservations = self.reserved;
    }
}

fn number(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

fn lists(status: &IPPoolStatus, holdings: &[Holding<'_>]) -> bool {
    let listed = &status.allocated_ips;
    listed.len() == holdings.len() && listed.iter().zip(holdings).all(|(listed, holding)| is_resolved(listed, holding))
}

fn is_resolved(listed: &AllocatedIp, holding: &Holding<'_>) -> bool {
    let same_ip = match holding.ip {
        Some(ip) => listed.ip.parse() == Ok(ip),
        None => listed.ip == holding.key,
    };
    same_ip && listed.pod_ref == holding.allocation.podref && listed.if_name == holding.allocation.ifname
}

fn resolved(holding: &Holding<'_>) -> AllocatedIp {
    AllocatedIp {
        ip: holding.ip.map_or_else(|| holding.key.to_owned(), |ip| ip.to_string()),
        pod_ref: holding.allocation.podref.clone(),
        if_name: holding.allocation.ifname.clone(),
    }
}
