"""`make run`: runs a complete gateway on one machine. Manages processes, files and ports; independent of Django and
apps."""
