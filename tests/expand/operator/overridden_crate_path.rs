crate: "my::facade",
WebApp => WebAppTree { resync_period: "500ms" },
