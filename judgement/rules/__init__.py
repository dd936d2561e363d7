"""What a question asks for, and how its answer is read."""
