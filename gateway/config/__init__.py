"""The configuration as a file: read it, check it, set the rows that it names. `manage.py apply` is its command."""
