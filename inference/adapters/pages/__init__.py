"""Counts the pages of PDF files, which anybody may have made, in processes of their own."""
