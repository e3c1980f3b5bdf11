#!/usr/bin/env bash
# Installs Evenhand into a virtual environment: bash requirements/install.sh PYTHON [FOLDER [FILE]]
#   With FILE (dev.lock, slurm.txt) only what it lists is added to an environment that is there.
#   uv does it where it is installed, else pip. All packages are checked against their hashes.
#   Linux gets the CUDA build of torch, unless TORCH=cpu.
#   The Slurm plugin is installed where Slurm is (or with SLURM=1): it slows each start down.
set -euo pipefail
python=$1 folder=${2:-.venv} file=${3:-}
cd "$(dirname "$0")/.."
fail() { echo "error: $1" >&2; exit 1; }

"$python" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' ||
  fail "Evenhand needs Python 3.11 and found $("$python" --version 2>&1); install it, or name it: make PYTHON=/path/to/python3.11."
# nothing is emptied that this script did not make
[ ! -L "$folder" ] || fail "$folder is a link to $(readlink "$folder"); remove the link."
[ ! -e "$folder" ] || [ -e "$folder/.evenhand" ] || [ -e "$folder/.ready" ] ||
  fail "$folder exists and was not made by this command; remove or rename it."

if command -v uv >/dev/null; then
  export UV_FIND_LINKS=${UV_FIND_LINKS:-${PIP_FIND_LINKS:-}}
  [ -n "$file" ] || uv venv --quiet --clear --python "$python" "$folder"
  install() { uv pip install --quiet --compile-bytecode --python "$folder/bin/python" --no-deps "$@"; }
else
  [ -n "$file" ] || "$python" -m venv --clear "$folder"
  install() { "$folder/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --no-compile "$@"; }
fi
# pip would use one processor; tests of packages are not run, and some hold errors on purpose
compile() { "$folder/bin/python" -m compileall -qq -j 0 -x '/tests?/|/torch/testing/' "$folder/lib" || true; }
if [ -n "$file" ]; then
  install --require-hashes -r "requirements/$file"
  compile
  touch "$folder/.${file%.*}"
  exit
fi
touch "$folder/.evenhand"

# a CPU build of torch, where one lies in PIP_FIND_LINKS or is asked for (TORCH=cpu); else PyPI's
if [ -z "${TORCH:-}" ] && compgen -G "${PIP_FIND_LINKS:-/nowhere}/torch-*+cpu-*.whl" >/dev/null; then
  TORCH=cpu
fi
if [ "${TORCH:-}" = cpu ]; then
  install --require-hashes -r requirements/torch-cpu.txt
else
  install --require-hashes -r requirements/torch.txt
  [ "$(uname)" != Linux ] || install --require-hashes -r requirements/torch-cuda.txt
fi
install --require-hashes -r requirements/requirements.lock
if [ -n "${SLURM:-}" ] || command -v sbatch >/dev/null; then
  install --require-hashes -r requirements/slurm.txt
fi
install --no-build-isolation -e .
compile
touch "$folder/.ready"
