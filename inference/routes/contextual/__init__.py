"""`POST /v1/embeddings/contextual`."""
