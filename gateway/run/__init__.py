"""`make run`: one machine's gateway from nothing. Knows processes, files and ports; no Django and no app."""
