#!/usr/bin/env bash
# The MCP Inspector's command line as a client: over stdio and HTTP, in both eras. `--strict` makes it complain about
# schemas that some model's API would refuse.
#
#     inspector.sh BINARY
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/server.sh"

printf '# Hello\n\nWorld\n' >"$vault/Hello.md"

# Complaints that are known faults of the server, one path a line. Once there are none, empty this.
known=''

passed=0 failed=0 faults=0
fail() {
    failed=$((failed + 1))
    echo "FAILED: $1"
    cat "$work/out" "$work/err"
}

inspect() {
    code=0
    timeout 20 mcp-inspector --cli "${target[@]}" --protocol-era "$era" "$@" >"$work/out" 2>"$work/err" || code=$?
}

# All tools, so that the deferred ones are looked at too.
start_server --tools all
for transport in stdio http; do
    target=("$url")
    [ "$transport" = http ] || target=(-e "${settings[0]}" -e "${settings[1]}" "$binary" --vault "$vault" --tools all)
    for era in legacy modern; do
        inspect --method tools/list --strict
        complaints=$(sed -n 's/^ *Path: //p' "$work/err" | LC_ALL=C sort)
        if [ "$complaints" != "$known" ]; then
            fail "tools/list [$transport $era] (exit code $code): not the complaints that are known"
        elif [ -n "$known" ]; then
            faults=$((faults + 1))
        elif [ "$code" = 0 ] && grep -q '"name": "file_read"' "$work/out"; then
            passed=$((passed + 1))
        else
            fail "tools/list [$transport $era] (exit code $code)"
        fi

        inspect --method tools/call --tool-name obsidian_get_note --format json \
            --tool-args-json '{"format": "content", "target": {"type": "path", "path": "Hello.md"}}'
        if [ "$code" = 0 ] && python3 - "$work/out" <<'PYTHON'
import json, sys
result = json.load(open(sys.argv[1]))["result"]
assert result["isError"] is False
assert result["structuredContent"]["result"]["content"] == "# Hello\n\nWorld\n"
PYTHON
        then passed=$((passed + 1)); else fail "tools/call [$transport $era] (exit code $code)"; fi

        inspect --method resources/read --uri 'obsidian://vault/Hello.md' --format json
        if [ "$code" = 0 ] && python3 - "$work/out" <<'PYTHON'
import json, sys
[content] = json.load(open(sys.argv[1]))["result"]["contents"]
assert json.loads(content["text"])["content"] == "# Hello\n\nWorld\n"
PYTHON
        then passed=$((passed + 1)); else fail "resources/read [$transport $era] (exit code $code)"; fi

        inspect --method resources/templates/list
        if [ "$code" = 0 ] && grep -qF 'obsidian://vault/{+path}' "$work/out"; then
            passed=$((passed + 1))
        else
            fail "resources/templates/list [$transport $era] (exit code $code)"
        fi
    done
done
echo "$passed passed, $failed failed, $faults known faults"
[ "$failed" = 0 ]
