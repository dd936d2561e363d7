"""Prices that a published catalogue proposes, until an operator decides."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from billing.models.fields import KeyField


class ProposalState(models.TextChoices):
    """A proposal waits until it is accepted or dismissed, or until a newer one of the same model replaces it."""

    WAITING = "waiting"
    ACCEPTED = "accepted"
    DISMISSED = "dismissed"
    REPLACED = "replaced"


class PriceProposal(models.Model):
    """A price of an alias or a raw model, or what one of its deployments costs the operator, beside the one that was in force when
    it was computed.

    `deployment` is the id of the deployment whose cost it is, and empty for a price. `version_id` is the version that was in force,
    None if there was none; the proposal is stale once another one is in force.
    `deployments` lists each deployment with its entry in the catalogue, `rounded` the places that were rounded up, `notes` what
    the catalogue says beyond the price. `published_version_id` is the version that was published when it was accepted.
    """

    alias = KeyField()
    deployment = KeyField(default="", db_default="")
    version_id = models.BigIntegerField(null=True)
    components_now = models.JSONField(default=dict)
    components = models.JSONField()
    source = models.TextField()
    markup_percent = models.TextField(default="0", db_default="0")
    deployments = models.JSONField(default=list)
    rounded = models.JSONField(default=list)
    notes = models.JSONField(default=list)
    is_beyond_bounds = models.BooleanField(verbose_name="Beyond the bounds")
    state = KeyField(choices=ProposalState.choices, default=ProposalState.WAITING, db_default=ProposalState.WAITING)
    created_at = models.DateTimeField(db_default=Now())
    decided_at = models.DateTimeField(null=True)
    decided_by = models.TextField(default="", db_default="")
    published_version_id = models.BigIntegerField(null=True)

    class Meta:
        db_table = "inference_price_proposal"
        verbose_name = "proposed price"
        constraints = [
            models.UniqueConstraint(
                fields=["alias", "deployment"],
                condition=Q(state=ProposalState.WAITING),
                name="price_proposal_one_waiting",
            ),
            models.CheckConstraint(
                condition=Q(state=ProposalState.WAITING, decided_at=None)
                | Q(state__in=["accepted", "dismissed", "replaced"], decided_at__isnull=False),
                name="price_proposal_decided",
            ),
            models.CheckConstraint(
                condition=Q(state=ProposalState.ACCEPTED) | Q(published_version_id=None),
                name="price_proposal_published_if_accepted",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.title} from {self.source}"

    @property
    def what(self) -> str:
        """Name the model whose price it is, or the deployment whose cost it is."""
        return f"{self.alias}: {self.deployments[0][0]}" if self.deployment else self.alias

    @property
    def title(self) -> str:
        """Name it in a sentence."""
        return f"{'cost' if self.deployment else 'price'} of {self.what}"
