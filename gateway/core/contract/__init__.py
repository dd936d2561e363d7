"""What the API promises, as plain data: errors, capabilities, limits, header names. Pure Python."""
