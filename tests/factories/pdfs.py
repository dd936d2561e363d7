"""PDF files: honest ones, and ones that lie or never end."""

import io
import zlib
from itertools import repeat

from reportlab.pdfgen.canvas import Canvas

CATALOG = b"<</Type/Catalog/Pages 2 0 R>>"
PAGE = b"<</Type/Page>>"


def pdf(pages: int = 1) -> bytes:
    """Return a file with this many pages."""
    file = io.BytesIO()
    canvas = Canvas(file, invariant=1)  # without the time, which would make the same file another one
    for number in range(pages):
        canvas.drawString(100, 100, f"Badgers, page {number + 1}")
        canvas.showPage()
    canvas.save()
    return file.getvalue()


def pdf_of(*objects: bytes) -> bytes:
    """Lay out a file with these objects, the first of which is its catalog."""
    data, places = b"%PDF-1.4\n", [b"0000000000 65535 f \n"]
    for number, each in enumerate(objects, 1):
        places.append(b"%010d 00000 n \n" % len(data))
        data += b"%d 0 obj\n%b\nendobj\n" % (number, each)
    table = b"xref\n0 %d\n%b" % (len(places), b"".join(places))
    return data + table + b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (len(places), len(data))


def bomb(megabytes: int = 500) -> bytes:
    """Return a file whose table of objects unpacks to this size."""
    packer = zlib.compressobj(9)
    packed = b"".join([*map(packer.compress, repeat(bytes(1_000_000), megabytes)), packer.flush()])
    described = b"/Type/XRef/Size 3/W[1 2 1]/Root 2 0 R/Filter/FlateDecode/Length %d" % len(packed)
    return b"%%PDF-1.5\n1 0 obj<<%b>>stream\n%b\nendstream endobj\nstartxref\n9\n%%%%EOF" % (described, packed)
