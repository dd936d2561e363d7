"""HTTP infrastructure independent of the apps: access declarations, strict JSON, errors, request ids."""
