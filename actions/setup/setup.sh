#!/usr/bin/env bash
# Install git-mem at this action's own version, from the action's own checkout, and put it on PATH.
# All actions of this repository run this one script; it is quick when git-mem is there already.
set -euo pipefail

source_folder=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
venv="${RUNNER_TEMP:?}/git-mem-venv"
python="${GITMEM_PYTHON:-python3}"

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
  echo "::error title=git mem::Python 3.11 or newer is needed; add actions/setup-python before this action"
  exit 3
}
if [ ! -x "$venv/bin/git-mem" ]; then
  "$python" -m venv "$venv"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check "$source_folder${GITMEM_EXTRAS:+[$GITMEM_EXTRAS]}"
fi
echo "$venv/bin" >> "${GITHUB_PATH:?}"
echo "version=$("$venv/bin/git-mem" --version | cut -d' ' -f2)" >> "${GITHUB_OUTPUT:?}"
