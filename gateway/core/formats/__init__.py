"""The console's formats of dates and times."""
