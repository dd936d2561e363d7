"""A contract for import-linter: what one app may see of another."""

from typing import Any

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output


class PublicLayersContract(Contract):
    """Refuse an import from one app of anything but the other's public layers.

    `public_layers` are the modules of an app that others may import; `also_public` are single modules more.
    `assemblers` put the apps together, so they may import everything.
    """

    type_name = "public_layers"

    apps: Any = fields.ListField(subfield=fields.StringField())
    public_layers: Any = fields.ListField(subfield=fields.StringField())
    also_public: Any = fields.ListField(subfield=fields.StringField(), required=False)
    assemblers: Any = fields.ListField(subfield=fields.StringField(), required=False)

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """Look at every import of an app's module from outside the app."""
        broken = sorted(
            f"{importer} imports {imported}"
            for app in self.apps
            for imported in {app, *graph.find_descendants(app)}
            if not self._is_public(imported)
            for importer in graph.find_modules_that_directly_import(imported)
            if not self._may_see(importer, app)
        )
        return ContractCheck(kept=not broken, metadata={"broken": broken})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Name each import that reaches into another app."""
        for line in check.metadata["broken"]:
            output.print_error(line)

    def _is_public(self, module: str) -> bool:
        """Return whether other apps may import `module`."""
        parts = module.split(".")
        is_layer = len(parts) > 1 and parts[1] in self.public_layers
        return is_layer or module in (self.also_public or ())

    def _may_see(self, importer: str, app: str) -> bool:
        """Return whether `importer` belongs to the app or puts the apps together."""
        return importer.partition(".")[0] == app or importer in (self.assemblers or ())
