"""Records what jobs do."""
