//! Trees with entries of the DNS service.

use std::time::Duration;

use k8s_openapi::api::core::v1::ConfigMap;
use opgen::{
    external::{DeletionPolicy, External, ExternalContext, ExternalKey, ExternalResource, Observed, UpdateOutcome},
    prelude::*,
};

use super::{
    Note,
    service::{Entry, Service},
};

pub(super) type NoteWithService = For<Note, Service>;

/// The period of the trees that observe often.
const BRIEF: Duration = Duration::from_secs(3);

/// Defines a DNS record with these constants, and a tree with it and a ConfigMap that has the observed text.
macro_rules! record_tree {
    ($record:ident, $tree:ident, { $($constants:tt)* }) => {
        #[derive(Debug, Provisioner)]
        #[provisioner(access(), output = Entry)]
        pub(super) struct $record;

        impl ExternalResource for $record {
            type Owner = NoteWithService;
            type Spec = Entry;
            const NAME: &'static str = "DNS record";
            $($constants)*

            fn spec(draft: &Draft<'_, Self::Owner>) -> Result<Entry> {
                Ok(Entry { text: draft.spec.text.clone() })
            }

            fn import(draft: &Draft<'_, Self::Owner>) -> Result<Option<String>> {
                let import = draft.spec.text.strip_prefix("import/");
                Ok(import.map(|rest| rest.split('/').next().unwrap_or_default().to_owned()))
            }

            async fn observe(
                cx: &ExternalContext<'_, Self>,
                key: ExternalKey<'_>,
            ) -> Result<Option<Observed<Entry>>> {
                cx.options().observe(key).await
            }

            fn is_up_to_date(spec: &Entry, observed: &Entry) -> bool {
                spec == observed
            }

            async fn create(cx: &ExternalContext<'_, Self>, spec: &Entry, token: &str) -> Result<String> {
                cx.options().create(spec, token).await
            }

            async fn update(cx: &ExternalContext<'_, Self>, id: &str, spec: &Entry) -> Result<UpdateOutcome> {
                cx.options().update(id, spec).await
            }

            async fn delete(cx: &ExternalContext<'_, Self>, id: &str) -> Result<()> {
                cx.options().delete(id).await
            }
        }

        #[derive(Debug, Provisioner)]
        #[provisioner(serial, owner = NoteWithService)]
        pub(super) struct $tree {
            record: External<$record>,
            #[provisioner(resource, from(record))]
            config: ConfigMap,
        }

        impl $tree {
            fn config(_: &Note, entry: &Entry) -> ConfigMap {
                ConfigMap { data: Some([("text".to_owned(), entry.text.clone())].into()), ..ConfigMap::default() }
            }
        }
    };
}

record_tree!(CalmRecord, CalmTree, {});
record_tree!(BriefRecord, BriefTree, {
    const PERIOD: Duration = BRIEF;
});
record_tree!(RetainedRecord, RetainedTree, {
    const DELETION_POLICY: DeletionPolicy = DeletionPolicy::Retain;
});
record_tree!(LaggingRecord, LaggingTree, {
    const CREATE_GRACE: Duration = Duration::from_secs(6);
});

/// A DNS record whose text no observation shows.
#[derive(Debug, Provisioner)]
#[provisioner(access())]
pub(super) struct HiddenRecord;

impl ExternalResource for HiddenRecord {
    type Owner = NoteWithService;
    type Spec = Entry;
    const NAME: &'static str = "DNS record";

    fn spec(draft: &Draft<'_, Self::Owner>) -> Result<Entry> {
        Ok(Entry { text: draft.spec.text.clone() })
    }

    async fn observe(cx: &ExternalContext<'_, Self>, key: ExternalKey<'_>) -> Result<Option<Observed<()>>> {
        let found = cx.options().observe(key).await?;
        Ok(found.map(|found| Observed::new(found.id(), ())))
    }

    fn is_up_to_date(_: &Entry, (): &()) -> bool {
        true
    }

    async fn create(cx: &ExternalContext<'_, Self>, spec: &Entry, token: &str) -> Result<String> {
        cx.options().create(spec, token).await
    }

    async fn update(cx: &ExternalContext<'_, Self>, id: &str, spec: &Entry) -> Result<UpdateOutcome> {
        cx.options().update(id, spec).await
    }

    async fn delete(cx: &ExternalContext<'_, Self>, id: &str) -> Result<()> {
        cx.options().delete(id).await
    }
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = NoteWithService)]
pub(super) struct HiddenTree {
    record: External<HiddenRecord>,
}

/// A tree with a node that the other trees do not have.
#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = NoteWithService)]
pub(super) struct TwoRecordsTree {
    record: External<CalmRecord>,
    second: External<BriefRecord>,
}

/// A tree with a DNS record unless the note has the text `off`.
#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = NoteWithService)]
pub(super) struct SwitchedTree {
    #[provisioner(when = |note| note.spec.text != "off")]
    record: External<CalmRecord>,
}

/// A DNS record for each word of a note.
#[derive(Debug, Provisioner)]
#[provisioner(access())]
pub(super) struct WordRecord;

impl ExternalResource for WordRecord {
    type Owner = Each<NoteWithService, String>;
    type Spec = Entry;
    const NAME: &'static str = "DNS record";

    fn spec(draft: &Draft<'_, Self::Owner>) -> Result<Entry> {
        Ok(Entry { text: String::clone(draft) })
    }

    async fn observe(cx: &ExternalContext<'_, Self>, key: ExternalKey<'_>) -> Result<Option<Observed<()>>> {
        let found = cx.options().observe(key).await?;
        Ok(found.map(|found| Observed::new(found.id(), ())))
    }

    fn is_up_to_date(_: &Entry, (): &()) -> bool {
        true
    }

    async fn create(cx: &ExternalContext<'_, Self>, spec: &Entry, token: &str) -> Result<String> {
        cx.options().create(spec, token).await
    }

    async fn update(cx: &ExternalContext<'_, Self>, id: &str, spec: &Entry) -> Result<UpdateOutcome> {
        cx.options().update(id, spec).await
    }

    async fn delete(cx: &ExternalContext<'_, Self>, id: &str) -> Result<()> {
        cx.options().delete(id).await
    }
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = NoteWithService)]
pub(super) struct WordsTree {
    #[provisioner(each = |note| words(note), key = |word| word)]
    records: External<WordRecord>,
}

fn words(note: &Note) -> Vec<String> {
    note.spec.text.split(' ').map(str::to_owned).collect()
}
