# For the parts that are shell scripts: a folder that goes away again, a vault in it, and a server for the vault.

binary=$1
work=$(mktemp -d)
vault=$work/vault
server=
mkdir "$vault"

end() {
    if [ -n "$server" ]; then
        kill "$server" 2>/dev/null || true
        wait "$server" 2>/dev/null || true
    fi
    rm -rf "$work"
}
trap end EXIT
trap 'exit 130' INT TERM HUP

# Nothing of the person who runs the tests reaches the server, and nothing of the server reaches them.
export HOME=$work
settings=("HOME=$work" "LAPIDARY_STATE_DIR=$work/state")

# Starts the server with these options and sets `url`.
start_server() {
    : >"$work/server.log"
    (cd "$work" && exec env -i "PATH=$PATH" "${settings[@]}" "$binary" --vault "$vault" --http 127.0.0.1:0 "$@") \
        >"$work/server.log" 2>&1 </dev/null &
    server=$!
    for _ in $(seq 100); do
        url=$(sed -n 's/.*serving MCP at \(http[^ ]*\).*/\1/p' "$work/server.log")
        [ -z "$url" ] || return 0
        kill -0 "$server" 2>/dev/null || break
        sleep 0.1
    done
    echo "no server came up:"
    cat "$work/server.log"
    exit 1
}
