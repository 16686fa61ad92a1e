"""`make screenshots`: each page of `git mem ui` on the memory of examples/, light, dark and as wide as a phone.

Writes all of them to a folder (.screenshots, or the one that is named), to be looked at; those that docs/ui.md shows go
to docs/pictures too, in few colours so that they stay small.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from gitmem.sessions import receipts  # noqa: E402
from tests.ui.browser import chromium  # noqa: E402
from tools import demo  # noqa: E402

NOW = "2026-01-26T09:00:00+09:00"
PAGES = {
    "today": "today",
    "facts": "facts",
    "search": "facts?q=why+is+the+consumer+slow",
    "fact": "",
    "timeline": "timeline?day=2026-01-20",
    "review": "review",
    "compare": "compare?from=HEAD~1&to=HEAD",
    "sessions": "sessions",
    "session": "sessions?session=eta-rollout",
    "prompt": "prompt?prompt=how+many+requests+may+a+key+make%3F&budget=800",
    "pictures": "pictures",
    "health": "health",
}
LOOKS: dict[str, dict[str, Any]] = {  # what `Browser.new_context` takes
    "light": {"viewport": {"width": 1040, "height": 700}},
    "dark": {"viewport": {"width": 1040, "height": 700}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 360, "height": 640}, "device_scale_factor": 2},
    "korean": {"viewport": {"width": 1040, "height": 700}, "locale": "ko-KR"},
}
SHOWN = (
    "today-light", "facts-light", "facts-phone", "fact-light", "fact-dark", "timeline-light", "review-light",
    "compare-light", "prompt-light", "pictures-light", "pictures-dark",
)  # fmt: skip
SESSIONS = (
    ("eta-rollout", "how do we roll back the new ETA?"), ("eta-rollout", "how many requests may a key make?"),
    ("on-call", "why does the consumer lag?"),
)  # fmt: skip
COLOURS = 128
PICTURES = ROOT / "docs" / "pictures"


def build(folder: Path) -> None:
    """The example's memory, promoted, edited once, with two sessions that were given some of it."""
    demo.DEMO = folder
    demo.build()
    demo.run("git", "mem", "promote", "--max", "8", when=demo.LAST)
    lines = (folder / "MEMORY.md").read_text(encoding="utf-8").splitlines()
    line = next(number for number, text in enumerate(lines, 1) if "batches are cut at 200" in text)
    text = (
        "`max.poll.interval.ms` is 300000 and batches are cut at 100 orders, so a rebalance never lands inside a batch"
    )
    reason = ["--reason", "measured on January 25"]
    demo.run("git", "mem", "edit", f"MEMORY.md:{line}", text, *reason, when=demo.LAST.replace("21:00", "21:30"))
    for session, prompt in SESSIONS:
        given = json.loads(demo.run("git", "mem", "context", prompt, "--json", when=NOW))
        tokens = {name: count for name, count in given["layers"].items() if name != "quotation"}
        parts = [part["id"] for part in given["parts"]]
        at = datetime.fromisoformat(NOW)
        receipts.append(folder / ".git", receipts.Receipt(at, session, "prompt", 41, tokens, parts))


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of the pages."""
    environ = {**demo.environment(), "GITMEM_NOW": NOW, "TZ": "Asia/Seoul"}
    command = [sys.executable, "-m", "gitmem", "ui", "--no-browser"]
    process = subprocess.Popen(
        command, cwd=folder, env=environ, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()


def taken(browser: Browser, address: str, folder: Path) -> None:
    """Every page in every look, as far as its window shows it."""
    for look, options in LOOKS.items():
        context = browser.new_context(**{"locale": "en-US", "timezone_id": "Asia/Seoul"} | options)
        page = context.new_page()
        page.goto(address)
        page.goto(f"{address}facts")
        sourced = "a.text:has-text('batches are cut')"
        fact = str(page.locator(sourced).first.get_attribute("href")).rpartition("/fact/")[2]
        for name, path in PAGES.items():
            page.goto(address + (path or f"fact/{fact}"))
            page.wait_for_selector("[hx-trigger=load]", state="detached")  # what it asks for once it is shown
            page.screenshot(path=folder / f"{name}-{look}.png")
        context.close()


def kept(folder: Path) -> int:
    """Put the pictures of docs/ui.md where they are kept, in few colours; their bytes."""
    PICTURES.mkdir(exist_ok=True)
    size = 0
    for name in SHOWN:
        with Image.open(folder / f"{name}.png") as picture:
            flat = picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
            place = PICTURES / f"{name}.png"
            flat.save(place, optimize=True)
            size += place.stat().st_size
    return size


def no_korean_letters() -> bool:
    """Whether this machine has no font for Korean: its letters would be empty boxes in the pictures."""
    listed = subprocess.run(["fc-list", ":lang=ko", "family"], capture_output=True, text=True, check=False)
    return listed.returncode == 0 and not listed.stdout.strip()


def main() -> None:
    if chromium.missing():
        sys.exit(chromium.MISSING)
    if no_korean_letters():
        sys.exit("no font here has Korean letters: apt-get install fonts-nanum (or fonts-noto-cjk)")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / ".screenshots")
    folder: Path = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        build(Path(place) / "eta-memory")
        with served(Path(place) / "eta-memory") as address, chromium.started() as browser:
            taken(browser, address, folder)
    print(f"\n{len(PAGES) * len(LOOKS)} pictures in {folder}; docs/pictures takes {kept(folder):,} bytes")


if __name__ == "__main__":
    main()
