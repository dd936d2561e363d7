"""`POST /v1/rerank`."""
