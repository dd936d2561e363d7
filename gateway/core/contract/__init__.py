"""The API's contract as plain data: errors, capabilities, limits, header names. Pure Python."""
