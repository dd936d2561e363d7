"""How upstreams are spoken to: one vendor's protocol a folder. A route's own folder has its endpoint for each."""
