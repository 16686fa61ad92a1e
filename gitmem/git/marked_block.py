"""The marks around the lines that git mem adds to a file with lines of others: a hook, info/attributes."""

from __future__ import annotations

import re

BEGIN = "# >>> git mem >>>"
END = "# <<< git mem <<<"
BLOCK = re.compile(f"^{BEGIN}.*?^{END}\n".encode(), re.MULTILINE | re.DOTALL)
