#!/usr/bin/env bash
# The official conformance suite, all scenarios for servers, for the two versions of the protocol that matter most: on
# the server with the fixtures that the suite asks for, where every check has to pass, and on the server as people
# get it, where conformance.yml says which checks fail and why; any other failure counts, and so does a success of one
# of those.
#
#     FIXTURES=BINARY conformance.sh BINARY
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/server.sh"

passed=0 failed=0 expected=0
nothing=$work/nothing.yml
echo 'server: []' >"$nothing"
# VERSION, the checks that are expected to fail, and what is tested.
look() {
    local version=$1 known_file=$2 what=$3 code=0
    timeout 50 conformance server --url "$url" --suite all --spec-version "$version" --timeout 10000 \
        --expected-failures "$known_file" -o "$work/$version-$what" >"$work/out" 2>&1 || code=$?
    # The colours are for people.
    sed -i 's/\x1b\[[0-9;]*m//g' "$work/out"
    ok=$(sed -n 's/^Total: \([0-9]*\) passed.*/\1/p' "$work/out")
    known=$(sed -n '/^Expected failures/,/^$/p' "$work/out" | grep -c '^  ~' || true)
    # Names of scenarios, or scenario:check.
    names=$(sed -n '/^Stale baseline/,/^$/p; /^Unexpected failures (/,/^$/p' "$work/out" | sed -n 's/^  [^ ]* //p')
    bad=$(wc -w <<<"$names")
    # A suite that ends otherwise has tested nothing.
    [ "$code" = 0 ] || [ "$bad" != 0 ] || bad=1
    [ "${ok:-0}" -gt 0 ] || bad=1
    if [ "$bad" != 0 ]; then
        echo "FAILED: conformance with $version, $what (exit code $code)"
        sed -n '/^Stale baseline/,$p; /^Unexpected failures (/,$p' "$work/out" | uniq
        [ -n "$names" ] || tail -n 20 "$work/out"
        for name in $names; do
            python3 - "$work/$version-$what/server-${name%%:*}"-20*/checks.json <<'PYTHON'
import json, sys
for check in json.load(open(sys.argv[1])):
    if check["status"] in ("FAILURE", "WARNING"):
        print(check["id"], check["status"], check.get("errorMessage"), json.dumps(check.get("details")))
PYTHON
        done
    fi
    passed=$((passed + ${ok:-0})) failed=$((failed + bad)) expected=$((expected + known))
}

product=$binary
for version in 2025-11-25 2026-07-28; do
    for what in fixtures product; do
        binary=$([ "$what" = fixtures ] && echo "${FIXTURES:?a binary with the feature conformance}" || echo "$product")
        start_server
        look "$version" "$([ "$what" = fixtures ] && echo "$nothing" || echo "$here/conformance.yml")" "$what"
        kill "$server" && wait "$server" 2>/dev/null || true
        server=
    done
done
echo "$passed passed, $failed failed, $expected expected failures"
[ "$failed" = 0 ]
