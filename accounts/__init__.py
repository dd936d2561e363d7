"""Identifies and authenticates callers: accounts, product integrations, keys, tokens and proofs."""
