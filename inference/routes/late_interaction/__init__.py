"""`POST /v1/late-interaction/score`."""
