"""The organization routes, as thin as they can be."""
