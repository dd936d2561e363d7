"""`POST /v1/judgement`."""
