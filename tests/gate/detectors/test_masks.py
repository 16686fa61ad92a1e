"""The masks of redaction are known wherever a text is read again."""

from __future__ import annotations

import pytest

from gitmem.gate.detectors.masks import has_mask
from gitmem.gate.detectors.personal.pii import RULES


@pytest.mark.parametrize("mask", sorted({mask for _, mask, _ in RULES.values()}))
def test_every_mask_of_personal_data_is_a_mask(mask: str) -> None:
    assert has_mask(f"- 연락처는 {mask} 이다") and not has_mask(f"see {mask}(page.md)")
