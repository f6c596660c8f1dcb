#!/usr/bin/env bash
# Packs the release binary of one target: .github/package.sh TARGET VERSION, into dist/.
#
# For trials, LAPIDARY_PROGRAM is another binary to pack, LAPIDARY_RUNS one that runs here and prints the completions, and
# LAPIDARY_DIST another folder.
set -euo pipefail
target=$1 version=$2
name=lapidary-$version-$target
dist=${LAPIDARY_DIST:-dist}
case $target in
    *windows*) binary=lapidary.exe ;;
    *) binary=lapidary ;;
esac
program=${LAPIDARY_PROGRAM:-target/$target/release/$binary}
runs=${LAPIDARY_RUNS:-$program}
folder=$dist/$name
mkdir -p "$folder/completions"
cp "$program" "$folder/$binary"
cp README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE crates/meaning/model/NOTICE.md docs/lapidary.1 "$folder/"
"$runs" completions bash >"$folder/completions/lapidary.bash"
"$runs" completions zsh >"$folder/completions/_lapidary"
"$runs" completions fish >"$folder/completions/lapidary.fish"
"$runs" completions powershell >"$folder/completions/_lapidary.ps1"
case $target in
    *windows*)
        if command -v 7z >/dev/null; then
            (cd "$dist" && 7z a -bso0 "$name.zip" "$name")
        else
            (cd "$dist" && python3 -m zipfile -c "$name.zip" "$name")
        fi
        ;;
    *) tar -C "$dist" -czf "$dist/$name.tar.gz" "$name" ;;
esac
rm -r "$folder"
