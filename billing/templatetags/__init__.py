"""Template filters about money."""
