"""The pages, one noun per file. They call the same operations as the API."""
