//! The kind `Database` in its three versions.

#[opgen::versions(v1alpha1(deprecated), v1beta1, v1)]
mod kinds {
    use opgen::prelude::*;

    /// A database with its replicas.
    #[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
    #[kube(group = "data.example.com", kind = "Database", namespaced, status = "Status", shortname = "db")]
    #[kube(printcolumn(name = "Engine", type_ = "string", json_path = ".spec.engine"))]
    #[kube(printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"))]
    #[version(replaced(v1beta1, from(image), to(engine, release), up = engine_of_image,
        down = |engine, release| format!("{engine}:{release}")))]
    pub struct DatabaseSpec {
        /// The image, for example `postgres:17`.
        pub image: String,
        /// The database engine.
        #[valid(immutable)]
        pub engine: String,
        /// The release of the engine, for example `17`.
        pub release: String,
        /// The number of replicas.
        #[schemars(range(min = 1, max = 9))]
        #[version(renamed(v1beta1, from = size))]
        pub replicas: i32,
        /// How the database is backed up.
        #[version(added(v1beta1, default = Backup { schedule: Schedule::Daily, keep: 7 }))]
        pub backup: Backup,
        /// The address of the old monitoring.
        #[version(removed(v1))]
        pub monitor: Option<String>,
        /// Whether the database may not be deleted.
        #[version(added(v1))]
        pub protected: bool,
    }

    /// The backups of a database.
    #[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
    pub struct Backup {
        /// When a backup begins.
        pub schedule: Schedule,
        /// The number of backups to keep.
        #[schemars(range(min = 1, max = 365))]
        pub keep: i32,
    }

    /// When a backup begins.
    #[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, PartialEq)]
    pub enum Schedule {
        /// Once a day.
        Daily,
        /// Once a week.
        Weekly,
        /// All changes, all the time.
        #[version(added(v1, instead = Daily))]
        Continuous,
    }

    /// Splits the image into the engine and its release.
    fn engine_of_image(image: String) -> (String, String) {
        let (engine, release) = image.rsplit_once(':').unwrap_or((&image, "latest"));
        (engine.to_owned(), release.to_owned())
    }
}

pub use kinds::{v1, v1alpha1, v1beta1};

#[cfg(test)]
mod tests {
    use super::*;
    use opgen::versions::{ConvertError, convert};

    fn old(image: &str) -> v1alpha1::Database {
        let spec = v1alpha1::DatabaseSpec { image: image.to_owned(), size: 3, monitor: Some("http://old".to_owned()) };
        v1alpha1::Database::new("orders", spec)
    }

    #[test]
    fn an_old_object_has_all_fields_of_the_newest_version() -> Result<(), ConvertError> {
        let new: v1::Database = convert(&old("postgres:17"))?;
        assert_eq!((new.spec.engine.as_str(), new.spec.release.as_str(), new.spec.replicas), ("postgres", "17", 3));
        assert_eq!((new.spec.backup.keep, new.spec.protected), (7, false));
        Ok(())
    }

    #[test]
    fn an_old_client_loses_nothing_of_a_new_object() -> Result<(), ConvertError> {
        let mut new: v1::Database = convert(&old("postgres"))?;
        new.spec.backup.schedule = v1::Schedule::Continuous;
        let mut seen: v1alpha1::Database = convert(&new)?;
        seen.spec.size = 5;
        let back: v1::Database = convert(&seen)?;
        new.spec.replicas = 5;
        assert_eq!(back.spec, new.spec);
        assert_eq!(convert::<_, v1alpha1::Database>(&back)?.spec.image, "postgres", "and keeps how it was written");
        Ok(())
    }
}
