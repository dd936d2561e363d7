"""Translates between the wire formats for text: chat completions, responses and messages.

Each format has modules that read it into one representation (`conversation`, `answer`, `events`) and modules that write
it from there. No module depends on both formats. Readers take and writers return plain JSON values; the routes handle
transport and framing.

A writer refuses what its format cannot express, with the member's name.
"""
