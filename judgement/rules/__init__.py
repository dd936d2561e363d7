"""Rules for questions, prompts and answers."""
