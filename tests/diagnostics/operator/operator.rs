// `operator!`.

//# nothing


//# kind without a tree
WebApp

//# kind without a tree among others
WebApp => WebAppTree, Network

//# tree is missing
WebApp =>

//# arrow of another kind
WebApp -> WebAppTree

//# comma is missing
WebApp => WebAppTree Network => NetworkTree

//# kind twice
WebApp => WebAppTree, Network => NetworkTree, WebApp => OtherTree

//# kind is its own tree
WebApp => WebApp

//# kind that is not a type
webapp => WebAppTree

//# tree that is a function
WebApp => build_tree

//# tree that is called
WebApp => tree()

//# function that is not called
my_lib::operator

//# closure without options
|| my_lib::operator()

//# closure whose options have no type
|options| my_lib::operator(options)

//# closure with two values
|options: Options, more: More| my_lib::operator(options, more)

//# text for an operator
"webapp"

//# name in upper case
name: "WebApp", WebApp => WebAppTree

//# name that is not a text
name: webapp, WebApp => WebAppTree

//# name twice
name: "a", name: "b", WebApp => WebAppTree

//# name in a kind
WebApp => WebAppTree { name: "webapp" }

//# option of a kind at the top
resync_period: "60s", WebApp => WebAppTree

//# unknown key at the top
nam: "webapp", WebApp => WebAppTree

//# option misspelled
WebApp => WebAppTree { pol: "60s" }

//# option twice
WebApp => WebAppTree { resync_period: "60s", resync_period: "30s" }

//# poll without a unit
WebApp => WebAppTree { resync_period: "60" }

//# poll that is a number
WebApp => WebAppTree { resync_period: 60 }

//# poll with an unknown unit
WebApp => WebAppTree { resync_period: "60w" }

//# poll of zero
WebApp => WebAppTree { resync_period: "0s" }

//# events that are a text
WebApp => WebAppTree { events: "off" }

//# no workers
WebApp => WebAppTree { workers: 0 }

//# workers in words
WebApp => WebAppTree { workers: "four" }

//# negative workers
WebApp => WebAppTree { workers: -1 }

//# finalizer without a domain
WebApp => WebAppTree { finalizer: "webapp" }

//# finalizer that is not a text
WebApp => WebAppTree { finalizer: webapp }

//# label without a value
Foreign<Namespace> => NamespaceTree { labels: "team=web, tier" }

//# label that Kubernetes would refuse
Foreign<Namespace> => NamespaceTree { labels: "team=a b" }

//# options are not supported yet
WebApp => WebAppTree { options: Options::default() }

//# option with an equals sign
WebApp => WebAppTree { resync_period = "60s" }

//# two mistakes in two kinds
WebApp => WebAppTree { resync_period: "x" }, Network => NetworkTree { workers: 0 }

//# crate that is no path
crate: "not a path", WebApp => WebAppTree
