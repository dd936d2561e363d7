"""The model API's views."""
