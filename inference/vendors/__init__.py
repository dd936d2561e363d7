"""Vendors: a folder for each, with a module for each route that it serves. They say how a vendor is asked."""
