"""Messages at upstreams that implement the public Messages API."""
