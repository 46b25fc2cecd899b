#!/usr/bin/env bash
# The tests look at the HTML report in a real browser and at --offline under strace.
set -euo pipefail
missing=()
command -v chromium >/dev/null || command -v chromium-browser >/dev/null ||
    command -v google-chrome >/dev/null || missing+=(chromium)
if [ "$(uname -s)" = Linux ]; then
    command -v strace >/dev/null || missing+=(strace)
fi
[ ${#missing[@]} -eq 0 ] && exit 0
if ! command -v apt-get >/dev/null; then
    echo "the tests need ${missing[*]}; install them with this system's package manager" >&2
    exit 1
fi
as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo)
"${as_root[@]}" apt-get update -qq
DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends \
    "${missing[@]}" >/dev/null
