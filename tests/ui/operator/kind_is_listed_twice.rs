opgen::operator! {
    WebApp => WebAppTree,
    Network => NetworkTree { resync_period: "60" },
    WebApp => OtherTree,
}
