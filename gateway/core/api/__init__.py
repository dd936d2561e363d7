"""HTTP plumbing that knows no app: access declarations, strict JSON, errors, request ids."""
