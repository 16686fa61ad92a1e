#!/usr/bin/env bash
# Install git-mem at this action's own version, from the action's own checkout, and put it on PATH.
# All actions of this repository run this one script; it is quick when git-mem is there already.
set -euo pipefail

source_folder=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
venv="${RUNNER_TEMP:?}/git-mem-venv"
python="${GITMEM_PYTHON:-python3}"
extras="${GITMEM_EXTRAS:-}"
extras="${extras// /}"
case "${GITMEM_MODEL:-}" in # what a model needs comes with it
  http:*) extras="${extras:+$extras,}remote" ;;
  gguf:*) extras="${extras:+$extras,}llama" ;;
esac

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
  echo "::error title=git mem::Python 3.11 or newer is needed; add actions/setup-python before this action"
  exit 3
}
# An action of another version, or one that asks for more extras, installs; one that asks for fewer finds them there.
version=$(sed -n 's/^__version__ = "\(.*\)"$/\1/p' "$source_folder/gitmem/__init__.py")
there=""
if [ -x "$venv/bin/git-mem" ]; then there=$("$venv/bin/git-mem" --version | cut -d' ' -f2); fi
former=$(cat "$venv/git-mem-extras" 2>/dev/null || true)
missing=""
for extra in ${extras//,/ }; do
  case ",$former," in *",$extra,"*) ;; *) missing="$missing,$extra" ;; esac
done
if [ "$there" != "$version" ] || [ -n "$missing" ]; then
  if [ ! -x "$venv/bin/python" ]; then "$python" -m venv "$venv"; fi
  all="${former:+$former$missing}"
  all="${all:-${missing#,}}"
  install() { "$venv/bin/python" -m pip install --quiet --disable-pip-version-check "$@"; }
  # Wheels only, each by its hash: nothing of a dependency runs while it is installed, and no cache is believed.
  install --only-binary :all: --require-hashes -r "$source_folder/actions/setup/requirements.txt"
  install --no-index --no-deps --no-build-isolation "$source_folder"
  # Extras are for pip to resolve (llama-cpp-python is built from source): from the index, not from a cache.
  if [ -n "$all" ]; then install --no-cache-dir "git-mem[$all]==$version"; fi
  printf '%s\n' "$all" > "$venv/git-mem-extras"
fi
echo "$venv/bin" >> "${GITHUB_PATH:?}"
echo "version=$("$venv/bin/git-mem" --version | cut -d' ' -f2)" >> "${GITHUB_OUTPUT:?}"
