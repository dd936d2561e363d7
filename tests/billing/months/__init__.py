"""Old months in tables of their own."""
