//! `Selectors`: the label and field selectors of a request, and the default page size of lists.

/// The default number of objects on one page of a list. Source: client-go's pager, and kube's watcher.
pub(crate) const PAGE_SIZE: u32 = 500;

/// The label and field selectors of a request.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Selectors<'a> {
    pub(crate) labels: Option<&'a str>,
    pub(crate) fields: Option<&'a str>,
}
