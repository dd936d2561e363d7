"""Routes at upstreams that have them in another form: the client's side of each translation."""
