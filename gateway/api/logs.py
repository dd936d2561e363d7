"""Log records of what strangers send."""

import logging


class OneLine(logging.Filter):
    """Makes a record a warning of one line: what it says, without a traceback."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Keep every record, without its traceback."""
        record.exc_info = record.exc_text = None
        record.levelno, record.levelname = logging.WARNING, "WARNING"
        return True
