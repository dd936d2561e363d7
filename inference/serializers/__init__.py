"""The wire formats of the model API."""
