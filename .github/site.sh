#!/usr/bin/env bash
# Builds the documents as a site in target/site: .github/site.sh. Broken links and anchors are errors.
set -euo pipefail
cd "$(dirname "$0")/.."
source=target/site-source
rm -rf "$source" && mkdir -p "$source"
cp docs/*.md "$source"
# The documents in the root become pages beside the others, so links between the two lose their folder.
for page in README ARCHITECTURE CONTRIBUTING CHANGELOG SECURITY CODE_OF_CONDUCT; do
    cp "$page.md" "$source/${page,,}.md"
done
mv "$source/security.md" "$source/reporting.md"
cp docs/security.md "$source/security.md"
sed -i -E \
    -e 's#\]\((\.\./)?SECURITY\.md#](reporting.md#g' \
    -e 's#\]\((\.\./)?(README|ARCHITECTURE|CONTRIBUTING|CHANGELOG|CODE_OF_CONDUCT)\.md#](\L\2\E.md#g' \
    -e 's#\]\(docs/#](#g' \
    "$source"/*.md
# Files that are not documents are named, not linked.
sed -i -E 's#\[([^]]*)\]\((\.\./)?(crates|benches|demo|tests|fixtures|xtask|deploy|LICENSE)[^)]*\)#\1#g' "$source"/*.md
python3 -m venv .cache/site
.cache/site/bin/pip install --quiet mkdocs==1.6.1 mkdocs-material==9.6.22
.cache/site/bin/mkdocs build --quiet --strict --config-file .github/site.yml
