"""The vendor Cohere: the second version of its public API."""
