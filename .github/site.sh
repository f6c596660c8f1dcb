#!/usr/bin/env bash
# Builds the documents as a site in target/site: .github/site.sh. Dead links and anchors are errors.
set -euo pipefail
cd "$(dirname "$0")/.."
version=0.5.4
mdbook=.cache/mdbook/bin/mdbook
if [ "$("$mdbook" --version 2>/dev/null)" != "mdbook v$version" ]; then
    cargo install --locked --root .cache/mdbook --no-default-features --features search "mdbook@$version"
fi
source=target/site-source
rm -rf "$source" target/site && mkdir -p "$source"
cp docs/*.md docs/*.svg .github/book.toml "$source"
# The documents in the root become pages beside the others, so links between the two lose their folder. mdBook would make
# the README the first page, which is docs/index.md.
cp README.md "$source/overview.md"
cp SECURITY.md "$source/reporting.md"
for page in ARCHITECTURE CONTRIBUTING CHANGELOG CODE_OF_CONDUCT; do
    cp "$page.md" "$source/${page,,}.md"
done
sed -i -E \
    -e 's#\]\((\.\./)?README\.md#](overview.md#g' \
    -e 's#\]\((\.\./)?SECURITY\.md#](reporting.md#g' \
    -e 's#\]\((\.\./)?(ARCHITECTURE|CONTRIBUTING|CHANGELOG|CODE_OF_CONDUCT)\.md#](\L\2\E.md#g' \
    -e 's#\]\(docs/#](#g' \
    "$source"/*.md
# Files that are not documents are named, not linked.
sed -i -E 's#\[([^]]*)\]\((\.\./)?(crates|benches|demo|tests|fixtures|xtask|deploy|packages|LICENSE)[^)]*\)#\1#g' "$source"/*.md
"$mdbook" build "$source"
python3 .github/site-links.py target/site
