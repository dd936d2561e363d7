"""The actions of billing. Each implements one rule in its own transaction."""
