"""Who calls: accounts, product integrations, keys, tokens and proofs."""
