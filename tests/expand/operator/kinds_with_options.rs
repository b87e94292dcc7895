name: "webapp",
WebApp => WebAppTree,
Foreign<Namespace> => NamespaceTree { labels: "team=web, example.com/tier=front" },
api::Network => NetworkTree { resync_period: "1h30m", events: false, workers: 4, finalizer: "demo.example.com/network" },
