"""The wire shapes of the model API."""
