"""Template filters about accounts."""
