#!/usr/bin/env bash
# Prints the section of one version in CHANGELOG.md; fails if there is none.
set -euo pipefail
version=$1
awk -v heading="## $version" '
    index($0, heading) == 1 && substr($0, length(heading) + 1, 1) ~ /^( |)$/ { inside = 1; next }
    inside && /^## / { exit }
    inside { print; found = found || /[^ ]/ }
    END { if (!found) exit 1 }
' "$(dirname "$0")/../CHANGELOG.md" || { echo "CHANGELOG.md has no section $version" >&2; exit 1; }
