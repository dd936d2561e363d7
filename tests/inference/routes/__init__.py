"""What is particular to each metered route."""
