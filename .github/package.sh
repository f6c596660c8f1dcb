#!/usr/bin/env bash
# Packs the release binary of one target: .github/package.sh TARGET VERSION, into dist/.
set -euo pipefail
target=$1 version=$2
name=lapidary-$version-$target
mkdir -p "dist/$name"
case $target in
    *windows*) binary=lapidary.exe ;;
    *) binary=lapidary ;;
esac
cp "target/$target/release/$binary" README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE "dist/$name/"
case $target in
    *windows*) (cd dist && 7z a -bso0 "$name.zip" "$name") ;;
    *) tar -C dist -czf "dist/$name.tar.gz" "$name" ;;
esac
rm -r "dist/$name"
