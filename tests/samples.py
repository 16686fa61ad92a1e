"""Made-up secrets for tests, put together at run time so that no scanner takes this repository for a leak."""

from __future__ import annotations

GITHUB = "ghp_" + "R8kQz2LmVw7XtYb4Nc9Hs1Jd6Fg3Pa5KoEuT"
AWS = "AKIA" + "QZ7WX3RT5YU2MN6B"
