opgen::operator! {
    WebApp => WebAppTree,
    Network => NetworkTree { poll: "60" },
    WebApp => OtherTree,
}
