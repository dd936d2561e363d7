"""Images at upstreams that speak the public vendor API."""
