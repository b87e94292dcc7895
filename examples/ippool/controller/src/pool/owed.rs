//! Reservations of freed allocations that are still to be deleted.

use std::{collections::HashMap, net::IpAddr, sync::Arc};

use ippool_api::{IPPool, OverlappingRangeIPReservation};
use opgen::{Lister, NamespacedName, context::Calls, prelude::*};
use parking_lot::Mutex;

use super::{PoolKeeper, place, survey::Holding};
use crate::{range::canonical, reservation::ReservationFacts};

/// The reservations that are still to be deleted for each pool, so that the next pass retries a failure. After a restart,
/// the controller of reservations deletes them. Clones share the same state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Owed(Arc<Mutex<HashMap<NamespacedName, Vec<Debt>>>>);

#[derive(Clone, Debug, PartialEq)]
struct Debt {
    ip: IpAddr,
    podref: String,
    ifname: String,
}

impl Owed {
    /// Adds the reservations of these allocations.
    pub(crate) fn add(&self, pool: &IPPool, gone: &[Holding<'_>]) {
        if gone.is_empty() {
            return;
        }
        let mut owed = self.0.lock();
        let debts = owed.entry(key(pool)).or_default();
        for holding in gone {
            let Some(ip) = holding.ip.map(canonical) else { continue };
            let (podref, ifname) = (holding.allocation.podref.clone(), holding.allocation.ifname.clone());
            let debt = Debt { ip, podref, ifname };
            if !debts.contains(&debt) {
                debts.push(debt);
            }
        }
    }

    /// Deletes the reservations, and keeps those that could not be deleted.
    pub(crate) async fn settle(
        &self,
        calls: &Calls<'_, PoolKeeper>,
        pool: &IPPool,
        reservations: &Lister<ReservationFacts, IpAddr>,
    ) -> Result<()> {
        let key = key(pool);
        while let Some(debt) = self.first(&key) {
            for name in names_at(reservations, place(pool).0, debt.ip)? {
                delete(calls, &name, &debt).await?;
            }
            self.paid(&key, &debt);
        }
        Ok(())
    }

    fn first(&self, pool: &NamespacedName) -> Option<Debt> {
        self.0.lock().get(pool)?.first().cloned()
    }

    fn paid(&self, pool: &NamespacedName, debt: &Debt) {
        let mut owed = self.0.lock();
        let Some(debts) = owed.get_mut(pool) else { return };
        debts.retain(|other| other != debt);
        if debts.is_empty() {
            owed.remove(pool);
        }
    }
}

/// Deletes a reservation if it still belongs to the freed allocation: another Pod may have got the address since.
async fn delete(calls: &Calls<'_, PoolKeeper>, name: &str, debt: &Debt) -> Result<()> {
    let Some(reservation) = calls.find::<OverlappingRangeIPReservation>(name).await? else { return Ok(()) };
    let spec = &reservation.spec;
    let same_interface = spec.ifname.is_empty() || debt.ifname.is_empty() || spec.ifname == debt.ifname;
    if spec.podref == debt.podref && same_interface {
        calls.delete_as_read(&reservation).await?;
    }
    Ok(())
}

fn names_at(reservations: &Lister<ReservationFacts, IpAddr>, namespace: &str, ip: IpAddr) -> Result<Vec<String>> {
    reservations.read(|all| {
        let here = all.find(&ip).filter(|(place, ..)| *place == namespace);
        here.map(|(_, name, _)| name.to_owned()).collect()
    })
}

fn key(pool: &IPPool) -> NamespacedName {
    let (namespace, name) = place(pool);
    NamespacedName { name: name.to_owned(), namespace: Some(namespace.to_owned()) }
}
