"""The deployments that fail, as far as this process knows."""

from inference.models import DeploymentTrouble

_known: set[str] = set()


def learn() -> None:
    """Read which deployments fail in any process. Each process does so with its catalogue."""
    _known.update(DeploymentTrouble.objects.values_list("deployment", flat=True))


def add(deployment: str) -> None:
    """Remember that a deployment fails here."""
    _known.add(deployment)


def forget(deployment: str) -> bool:
    """Forget that a deployment fails; return whether it was known to, so that its success is worth recording."""
    if deployment not in _known:
        return False
    _known.discard(deployment)
    return True
