"""The sections of the file, one per module; each row checks and saves itself."""
