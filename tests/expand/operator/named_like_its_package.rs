WebApp => WebAppTree
