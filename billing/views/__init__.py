"""The routes of billing: access declared, parse, one call, render."""
