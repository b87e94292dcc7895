crate: "my::facade",
WebApp => WebAppTree { poll: "500ms" },
