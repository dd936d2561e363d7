"""The configuration file: reads it, checks it, and sets the rows that it names. `manage.py apply` is its command."""
