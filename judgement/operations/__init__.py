"""What changes the rows of the judgement app."""
