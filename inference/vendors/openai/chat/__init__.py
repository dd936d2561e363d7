"""Chat completions at upstreams that implement the public vendor API."""
