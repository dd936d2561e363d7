"""Every member that the vendor documents for an image is in our table, and the page has the same table."""

import re
from pathlib import Path

from openai.types.image_generate_params import ImageGenerateParamsBase, ImageGenerateParamsStreaming

from inference.routes.images.members import IMAGE_MEMBERS, VENDOR
from inference.rules.members import REFUSED_EVERYWHERE, Treatment

PAGE = Path(__file__).resolve().parents[3] / "docs" / "image-fields.md"


def test_every_member_of_the_vendors_is_in_the_table() -> None:
    documented = set(ImageGenerateParamsBase.__annotations__) | set(ImageGenerateParamsStreaming.__annotations__)
    assert set(VENDOR) == documented


def test_what_is_refused_everywhere_is_refused_here_unless_the_vendor_has_it() -> None:
    for name in REFUSED_EVERYWHERE.keys() - VENDOR.keys():
        assert IMAGE_MEMBERS[name].treatment is Treatment.REFUSED


def test_the_page_has_the_same_table() -> None:
    table = re.search(r"(?:^\|.*\n)+", PAGE.read_text().partition("## Fields\n")[2], re.MULTILINE)
    assert table is not None
    rows = [[cell.strip() for cell in line.strip("|\n").split("|")] for line in table.group().splitlines()[2:]]
    assert rows == [[f"`{name}`", str(member.treatment), member.explanation] for name, member in VENDOR.items()]
