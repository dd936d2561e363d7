"""Embeddings of the demo backend."""
