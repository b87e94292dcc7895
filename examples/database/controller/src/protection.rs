//! The webhook that protects a `Database` from deletion.

use opgen::webhook::{Admission, Denied};

use database_api::database::v1::Database;

/// Refuses to delete a protected database. A rule of the schema can't say it, since the API server checks rules only for writes.
///
/// # Errors
/// If the database is protected.
pub fn refuse_deletion(request: &Admission<Database>) -> Result<(), Denied> {
    match request.old_object() {
        Some(database) if database.spec.protected => {
            Err(Denied::new("the database is protected; set spec.protected to false first"))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use database_api::database::v1::{Backup, DatabaseSpec, Schedule};
    use opgen::testing::AdmissionHarness;

    fn database(protected: bool) -> Database {
        let backup = Backup { schedule: Schedule::Daily, keep: 7 };
        let (engine, release) = ("postgres".to_owned(), "17".to_owned());
        Database::new("orders", DatabaseSpec { engine, release, replicas: 1, backup, protected })
    }

    #[tokio::test]
    async fn only_a_protected_database_can_not_be_deleted() {
        let operator = crate::operator();
        assert_eq!(AdmissionHarness::delete(&database(false)).call(&operator).await.denied, None);
        let denied = AdmissionHarness::delete(&database(true)).call(&operator).await.denied;
        assert!(denied.is_some_and(|denied| denied.to_string().contains("set spec.protected to false first")));
    }
}
