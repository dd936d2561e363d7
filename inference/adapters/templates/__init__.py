"""Recognizes events that differ from an earlier one of their stream only in their text, and rewrites them without parsing.

Nearly all events of a stream repeat the previous one, except for their text, sequence number and padding. A template finds
these values by comparing bytes, and inserts them into the bytes that were written for the earlier event.

Why this is exact: to make a template from an event, these values are replaced by unpredictable ones. The template is used
only if the result parses as the same event with exactly those values. Each place is therefore the whole content of one string,
or one number. All that it matches later is also the content of a string, or a number (RFC 8259 sections 6 and 7: for a string,
valid UTF-8 without quotes, backslashes and control characters), so parsing would yield the same event with that value. All
other events are parsed.
"""

from inference.adapters.templates.forms import CHAT, MESSAGES, RESPONSES, Form
from inference.adapters.templates.stream import Templates
from inference.adapters.templates.template import Run

__all__ = ["CHAT", "MESSAGES", "RESPONSES", "Form", "Run", "Templates"]
