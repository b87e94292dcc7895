//! Label and field selectors of a request, and the default size of a page.

/// Objects of one page of a list, unless the operator says otherwise. Source: client-go's pager, and kube's watcher.
pub(crate) const PAGE_SIZE: u32 = 500;

/// Label and field selectors, as a request takes them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Selectors<'a> {
    pub(crate) labels: Option<&'a str>,
    pub(crate) fields: Option<&'a str>,
}
