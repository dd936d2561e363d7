"""A contract for import-linter: what a vendor may see of the routes."""

from typing import Any

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output


class SameNounContract(Contract):
    """Refuse an import of `<imported>.<noun>` by any module of `<importers>.<name>` but `<importers>.<name>.<noun>`."""

    type_name = "same_noun"

    importers: Any = fields.StringField()
    imported: Any = fields.StringField()

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """Look at every import that a module of the importers makes."""
        broken = sorted(
            f"{importer} imports {imported}"
            for importer in graph.find_descendants(self.importers)
            for imported in graph.find_modules_directly_imported_by(importer)
            if imported.startswith(f"{self.imported}.") and self._noun(importer, 1) != self._noun(imported, 0)
        )
        return ContractCheck(kept=not broken, metadata={"broken": broken})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Name each import of another noun."""
        for line in check.metadata["broken"]:
            output.print_error(line)

    def _noun(self, module: str, position: int) -> str | None:
        """Return the part of a module's name at a position below its root, None if there is none."""
        root = self.importers if position else self.imported
        return dict(enumerate(module.removeprefix(f"{root}.").split("."))).get(position)
