"""The actions: each is one rule in one transaction."""
