#!/usr/bin/env bash
# Install programs of the system that tests need and that are missing, with apt-get: install-system-tools.sh NAME...
# chromium  for the pages    npm, java  for the analyzers          javac, g++  for pass@k
# strace    for silence      wordnet    for METEOR's synonyms      buildah, debootstrap  for the image
set -euo pipefail
has() {
    case $1 in
        chromium) command -v chromium || command -v chromium-browser || command -v google-chrome ;;
        wordnet) [ -e /usr/share/wordnet/data.noun ] ;;
        *) command -v "$1" ;;
    esac >/dev/null
}
missing=()
for program in "$@"; do
    has "$program" && continue
    case $program in
        npm) missing+=(nodejs npm) ;;
        java) missing+=(default-jre-headless) ;;
        javac) missing+=(default-jdk-headless) ;;
        wordnet) missing+=(wordnet-base) ;;
        *) missing+=("$program") ;;
    esac
done
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
