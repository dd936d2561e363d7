"""The pages, one noun a file. They call the operations that the API calls."""
