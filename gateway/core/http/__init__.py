"""HTTP from the socket to a view and back: errors, request ids, forms; `lean/` and `server/` do the work."""
