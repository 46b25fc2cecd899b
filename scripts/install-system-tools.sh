#!/usr/bin/env bash
# Programs of the system that the slow tests need: a browser for the HTML report, strace for --offline, Node.js and
# Java for the analyzers, compilers for pass@k, WordNet for METEOR's synonyms, buildah for the image.
set -euo pipefail
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
[ ${#missing[@]} -eq 0 ] && exit 0
if ! command -v apt-get >/dev/null; then
    echo "the slow tests need ${missing[*]}; install them with this system's package manager" >&2
    exit 1
fi
as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo)
"${as_root[@]}" apt-get update -qq
DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends \
    "${missing[@]}" >/dev/null
