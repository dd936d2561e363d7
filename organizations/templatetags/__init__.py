"""Template filters of the organization pages."""
