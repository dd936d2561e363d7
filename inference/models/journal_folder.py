"""Folders of journals, and whether anybody reads them."""

from django.db import models


class JournalFolder(models.Model):
    """A folder in which server processes keep their journals, by the id that is in it (`inference.metering.journal_folder`).

    `host` and `path` are where it was read last, at `read_at`. `files` are the journals that were there then: at least one while a
    server runs, none once all processes have stopped in order. `waiting_since` is when the oldest journal that could not be
    closed yet was found dead. `logged_at` is when the log last named the folder as one that needs a person.
    """

    id = models.UUIDField(primary_key=True)
    host = models.TextField()
    path = models.TextField()
    files = models.PositiveIntegerField()
    waiting_since = models.DateTimeField(null=True)
    read_at = models.DateTimeField()
    logged_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "inference_journal_folder"

    def __str__(self) -> str:
        return f"{self.host}:{self.path}"
