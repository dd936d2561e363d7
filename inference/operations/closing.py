"""What the inference app contributes to the closing of an account: its stored responses are deleted."""

from accounts.models import Account
from accounts.operations.closing import Part
from inference.models import StoredResponse

ROWS_AT_ONCE = 100


class InferencePart(Part):
    """Deletes stored responses."""

    def erase(self, account: Account) -> None:
        own = StoredResponse.objects.filter(owner_kind="account", owner_key=account.did)
        ids = list(own.values_list("pk", flat=True))  # once, because no index has them
        for first in range(0, len(ids), ROWS_AT_ONCE):
            StoredResponse.objects.filter(pk__in=ids[first : first + ROWS_AT_ONCE]).delete()
