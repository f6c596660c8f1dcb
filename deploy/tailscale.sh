#!/bin/sh
# Lapidary through Tailscale, which brings its own names and certificates.
#
#     deploy/tailscale.sh serve      only your own devices reach it (Claude Code, Codex, Cursor on them)
#     deploy/tailscale.sh funnel     the internet reaches it too (claude.ai, ChatGPT)
#
# The server itself stays on this computer: start it with the line that this script prints.
set -eu
way=${1:-serve}
case $way in serve | funnel) ;; *) echo "usage: $0 serve|funnel" >&2; exit 2 ;; esac
name=$(tailscale status --json | sed -n 's/^ *"DNSName": "\([^"]*\)\.",*$/\1/p' | head -n 1)
[ -n "$name" ] || { echo "this computer has no name in your tailnet: run tailscale up" >&2; exit 1; }
tailscale "$way" --bg 3010
echo "now start: lapidary serve --http 127.0.0.1:3010 --public-url https://$name"
echo "then look: lapidary doctor --remote https://$name"
