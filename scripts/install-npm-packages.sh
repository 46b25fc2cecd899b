#!/usr/bin/env bash
# npm packages that the tests need: the analyzers' programs, and descriptions of GitHub and its workflows.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
if ! command -v npm >/dev/null; then
    echo "the tests need npm; install Node.js 20 or later" >&2
    exit 1
fi
for lock in analyzers/*/package-lock.json; do
    tool=$(basename "$(dirname "$lock")")
    cmp -s "$lock" ".venv/share/crscore/tools/$tool/package-lock.json" ||
        .venv/bin/crscore analyzers install "$tool"
done
for lock in tests/data/*/package-lock.json; do
    folder=$(dirname "$lock")
    [ -d "$folder/node_modules" ] ||
        npm ci --ignore-scripts --no-audit --no-fund --loglevel=error --prefix "$folder"
done
# Of GitHub's description the tests read one file; the others take 370 MB.
find tests/data/github/node_modules/@octokit/openapi/generated -type f \
    ! -name api.github.com.json -delete
