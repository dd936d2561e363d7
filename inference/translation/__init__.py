"""Between the vendor's two wire forms for text: chat completions and responses.

Each form has modules that read it into one representation (`conversation`, `answer`, `events`) and modules that write it
from there. No module knows both forms. Readers take and writers give plain JSON values; where they come from and how they
are framed is the routes' matter.

What one form can say and the other cannot is refused with the member's name, by the writer that cannot say it.
"""
