"""Catalogues of published prices, in the forms of their publishers, read as prices of this gateway."""
