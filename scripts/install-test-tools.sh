#!/usr/bin/env bash
# What the tests need beside Python: a real browser for the HTML report, strace for --offline, the
# analyzers' own programs with the Node.js and Java that run them, compilers of C++ and Java for
# pass@k, WordNet for METEOR's synonyms, buildah for the image, and what GitHub and its runners are
# described by.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
missing=()
command -v chromium >/dev/null || command -v chromium-browser >/dev/null ||
    command -v google-chrome >/dev/null || missing+=(chromium)
command -v npm >/dev/null || missing+=(nodejs npm)
command -v javac >/dev/null || missing+=(default-jdk-headless)
command -v g++ >/dev/null || missing+=(g++)
if [ "$(uname -s)" = Linux ]; then
    command -v strace >/dev/null || missing+=(strace)
    [ -e /usr/share/wordnet/data.noun ] || missing+=(wordnet-base)
    command -v buildah >/dev/null || missing+=(buildah)
    command -v debootstrap >/dev/null || missing+=(debootstrap)
fi
if [ ${#missing[@]} -gt 0 ]; then
    if ! command -v apt-get >/dev/null; then
        echo "the tests need ${missing[*]}; install them with this system's package manager" >&2
        exit 1
    fi
    as_root=()
    [ "$(id -u)" -eq 0 ] || as_root=(sudo)
    "${as_root[@]}" apt-get update -qq
    DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends \
        "${missing[@]}" >/dev/null
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
