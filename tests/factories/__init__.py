"""Makes real rows, keys, proofs and tokens for tests."""
