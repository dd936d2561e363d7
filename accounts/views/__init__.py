"""The routes of the accounts app: access declared, parse, one call, render."""
