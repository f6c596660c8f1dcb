#!/bin/sh
# Installs the newest release of Lapidary for this user, or updates it:
#
#     curl -fsSL https://github.com/@repository@/releases/latest/download/install.sh | sh
#
# LAPIDARY_VERSION=0.2.0   another version than the newest
# LAPIDARY_BIN=~/bin       another folder than ~/.local/bin
# LAPIDARY_RELEASES=URL    another place than GitHub's releases
#
# Nothing is installed unless its checksum is the published one. No right of the administrator is needed.
set -eu

# Filled by packages/build.
repository=@repository@
releases=${LAPIDARY_RELEASES:-https://github.com/$repository/releases}

fail() {
    echo "install.sh: $*" >&2
    exit 1
}

fetch() { # URL FILE
    if command -v curl >/dev/null 2>&1; then
        curl -fsSL --retry 2 "$1" -o "$2" || fail "cannot download $1"
    elif command -v wget >/dev/null 2>&1; then
        wget -q "$1" -O "$2" || fail "cannot download $1"
    else
        fail "curl or wget is needed"
    fi
}

sha256() { # FILE
    if command -v sha256sum >/dev/null 2>&1; then
        sha256sum "$1" | cut -d ' ' -f 1
    elif command -v shasum >/dev/null 2>&1; then
        shasum -a 256 "$1" | cut -d ' ' -f 1
    else
        openssl dgst -sha256 -r "$1" | cut -d ' ' -f 1
    fi
}

# Everything is in a function, so that a download that breaks off runs nothing.
main() {
    case $(uname -s) in
        Linux) system=unknown-linux-musl ;;
        Darwin) system=apple-darwin ;;
        *) fail "there is no program for $(uname -s); on Windows use winget or Scoop" ;;
    esac
    case $(uname -m) in
        x86_64 | amd64) machine=x86_64 ;;
        aarch64 | arm64) machine=aarch64 ;;
        *) fail "there is no program for $(uname -m); build it from source: https://github.com/$repository" ;;
    esac
    target=$machine-$system

    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    if [ -n "${LAPIDARY_VERSION:-}" ]; then
        from=$releases/download/v${LAPIDARY_VERSION#v}
    else
        from=$releases/latest/download
    fi
    fetch "$from/SHA256SUMS" "$folder/SHA256SUMS"
    # The list names the version, so the newest one need not be asked for.
    line=$(grep -E "^[0-9a-f]{64}  lapidary-v[^ /]*-$target\.tar\.gz\$" "$folder/SHA256SUMS" | head -n 1) ||
        fail "the release has no archive for $target"
    wanted=${line%% *}
    archive=${line##* }
    fetch "$from/$archive" "$folder/$archive"
    found=$(sha256 "$folder/$archive")
    [ "$found" = "$wanted" ] || fail "$archive is damaged: its checksum is $found, not $wanted"
    tar -xzf "$folder/$archive" -C "$folder"

    bin=${LAPIDARY_BIN:-$HOME/.local/bin}
    data=${XDG_DATA_HOME:-$HOME/.local/share}
    unpacked=$folder/${archive%.tar.gz}
    mkdir -p "$bin"
    # In one step: a server that runs keeps its own file.
    cp "$unpacked/lapidary" "$bin/.lapidary.new"
    chmod 755 "$bin/.lapidary.new"
    mv -f "$bin/.lapidary.new" "$bin/lapidary"
    if [ -f "$unpacked/lapidary.1" ]; then
        mkdir -p "$data/man/man1"
        cp "$unpacked/lapidary.1" "$data/man/man1/lapidary.1"
    fi
    echo "$("$bin/lapidary" --version) is in $bin"
    case :$PATH: in
        *":$bin:"*) say=lapidary ;;
        *)
            echo "$bin is not on your PATH: add it, or write the whole path"
            say=$bin/lapidary
            ;;
    esac
    echo "Next: $say install --vault /path/to/your/vault"
}

main
