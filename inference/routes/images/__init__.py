"""`POST /v1/images/generations`."""
