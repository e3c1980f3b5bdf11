#!/usr/bin/env bash
# Locks versions and hashes: requirements.lock, dev.lock (only what the former lacks), torch.txt
# (PyPI's builds), torch-cpu.txt (the wheels in the folder PIP_FIND_LINKS), torch-cuda.txt (what
# the CUDA build needs), slurm.txt.
set -euo pipefail
cd "$(dirname "$0")"
torch=2.13.0
compile() { uv pip compile --quiet --generate-hashes --no-strip-extras --python-version 3.11 --no-header "$@"; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

echo "torch==$torch" > "$scratch/torch.in"
UV_FIND_LINKS= compile "$scratch/torch.in" --no-annotate -o "$scratch/all.txt"
awk '/^torch==/ {on=1} on {print} on && !/\\$/ {exit}' "$scratch/all.txt" > torch.txt
# the index of CPU builds gives no hashes: those of the wheels at hand are added
if compgen -G "${PIP_FIND_LINKS:-/nowhere}/torch-$torch+cpu-*.whl" >/dev/null; then
  printf 'torch==%s+cpu' "$torch" > torch-cpu.txt
  sha256sum "$PIP_FIND_LINKS"/torch-"$torch"+cpu-*.whl |
    while read -r hash _; do printf ' \\\n    --hash=sha256:%s' "$hash"; done >> torch-cpu.txt
  echo >> torch-cpu.txt
fi

compile ../pyproject.toml --extra zh -c "$scratch/torch.in" --find-links "${PIP_FIND_LINKS:-/nowhere}" --no-emit-package torch -o requirements.lock
compile ../pyproject.toml --extra docs --extra test --extra zh -c requirements.lock -c "$scratch/torch.in" --no-emit-package torch --no-annotate -o dev.lock
# those of requirements.lock are installed already
awk 'NR == FNR {if (/^[a-z]/) {split($1, pin, "=="); users[pin[1]]} next}
     /^[a-z]/ {split($1, pin, "=="); on = !(pin[1] in users)} on' requirements.lock dev.lock > "$scratch/dev.lock"
mv "$scratch/dev.lock" dev.lock
sed -i "s|$scratch/||" requirements.lock
awk '/^[a-z]/ {on = /^(nvidia|cuda|triton)/} on' "$scratch/all.txt" > torch-cuda.txt
printf 'snakemake-executor-plugin-slurm==2.8.0\nsnakemake-executor-plugin-slurm-jobstep==0.6.1\n' > "$scratch/slurm.in"
compile "$scratch/slurm.in" --no-deps --no-annotate -o slurm.txt
