"""The sections of the file, one a module; each row knows how to check and how to save itself."""
