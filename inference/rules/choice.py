"""Chooses the deployment for a call."""

from collections.abc import Callable, Sequence

from inference.interface.model import DeploymentTarget


def choose(
    deployments: Sequence[DeploymentTarget], is_open: Callable[[DeploymentTarget], bool], share: float
) -> DeploymentTarget | None:
    """Choose by weight among the available deployments with the first priority; None if the breakers of all are open.

    `share` is a random number in [0, 1).
    """
    usable = [deployment for deployment in deployments if not is_open(deployment)]
    if len(usable) < 2:
        return usable[0] if usable else None
    first = min(deployment.priority for deployment in usable)
    return _by_weight([deployment for deployment in usable if deployment.priority == first], share)


def _by_weight(deployments: Sequence[DeploymentTarget], share: float) -> DeploymentTarget:
    left = share * sum(deployment.weight for deployment in deployments)
    for deployment in deployments:
        left -= deployment.weight
        if left < 0:
            return deployment
    return deployments[-1]
