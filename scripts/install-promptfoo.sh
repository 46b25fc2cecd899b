#!/usr/bin/env bash
# promptfoo, for the test of the assertion that it may use: 265 MB of npm packages.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
[ -d .venv/promptfoo/node_modules ] || npm install --prefix .venv/promptfoo --omit=optional --ignore-scripts \
    --no-audit --no-fund --loglevel=error promptfoo@0.121.20 @libsql/linux-x64-gnu@0.5.29
