"""What is done to the inference app's records."""
