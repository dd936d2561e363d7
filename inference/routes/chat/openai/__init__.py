"""Chat completions at upstreams that speak the public vendor API."""
