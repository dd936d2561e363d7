"""The organization pages. They call the same operations as the API."""
