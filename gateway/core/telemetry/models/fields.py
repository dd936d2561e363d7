"""Column types that the tables of telemetry share."""

from typing import Any

from django.db import models


class KeyField(models.TextField):
    """An opaque key: text compared byte by byte, "" if there is none."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"db_collation": "C", "blank": True, "db_default": "", **kwargs})
