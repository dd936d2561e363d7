"""The verbs: each is one rule in one transaction."""
