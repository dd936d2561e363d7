"""The sections of the file, one per module; each row knows how to check and how to save itself."""
