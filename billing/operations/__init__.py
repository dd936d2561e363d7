"""The actions of billing: each implements one rule, step by step, inside its own transaction."""
