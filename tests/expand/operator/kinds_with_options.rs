name: "webapp",
WebApp => WebAppTree,
api::Network => NetworkTree { poll: "1h30m", events: false, workers: 4, finalizer: "demo.example.com/network" },
