"""What the pages of several apps share: forms, and files to download."""
