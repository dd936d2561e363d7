"""How each vendor is asked: a folder per vendor, with a module for each route that it serves."""
