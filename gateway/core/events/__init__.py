"""Events: what happened, recorded in the transaction in which it happened, and sent to product servers and people afterwards."""
