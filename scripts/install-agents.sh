#!/usr/bin/env bash
# Installs agent CLIs in exact versions into a folder, for the tests against real ones.
#
#   scripts/install-agents.sh DIR [pi|codex|opencode ...]     (none named: all three)
#
# DIR is a cache: what is there already is not fetched again. Nothing is written anywhere
# else. Prints the folder with the executables and a node that runs them. Exits with 3 when
# there is no npm or the registry cannot be reached, which means: skip those tests.
set -euo pipefail

# npm would give an older release for an older node without a word, so all are exact.
readonly node=node@22.23.3
package_of() { # AGENT
    case "$1" in
        pi) echo @earendil-works/pi-coding-agent@1.6.0 ;;
        codex) echo @openai/codex@0.171.0 ;;
        opencode) echo opencode-ai@1.18.33 ;;
        *) fail 2 "there is no agent \`$1\`; there are pi, codex and opencode" ;;
    esac
}

fail() { printf 'error: %s\n' "$2" >&2; exit "$1"; }

[ $# -ge 1 ] || fail 2 "name the folder to install into: scripts/install-agents.sh DIR [pi|codex|opencode ...]"
folder="$1"
shift
[ $# -ge 1 ] || set -- pi codex opencode
# A wrong name is told before anything is made.
for agent in "$@"; do package_of "$agent" >/dev/null; done
mkdir -p "$folder"
folder="$(cd "$folder" && pwd -P)"

# npm's own settings are read from where they are; everything that it writes stays in DIR.
export npm_config_userconfig="${npm_config_userconfig:-${HOME:-/}/.npmrc}"
export HOME="$folder/home" TMPDIR="$folder/tmp"
export npm_config_cache="$TMPDIR/npm.$$" npm_config_update_notifier=false
mkdir -p "$HOME" "$TMPDIR" "$folder/bin"
trap 'rm -rf "$npm_config_cache"' EXIT

# What npm says when it is the way to the registry that fails, not the package.
unreachable='code (E(NOTFOUND|AI_AGAIN|CONNREFUSED|CONNRESET|TIMEDOUT|NETUNREACH|HOSTUNREACH|403|407|50[0-9])|ERR_SOCKET_TIMEOUT)|npm error network'

install() { # NAME PACKAGE: puts the package into DIR/PACKAGE and its program into DIR/bin
    local name="$1" package="$2" home new
    home="${package#@}"
    home="$folder/${home//\//-}"
    if [ ! -e "$home" ]; then
        command -v npm >/dev/null || fail 3 "npm is needed to install $package; it comes with node, and as a package \`npm\` of most systems"
        echo "installing $package" >&2
        new="$TMPDIR/new.$$"
        rm -rf "$new"
        mkdir "$new"
        # Scripts are run, as the package of node is nothing but one.
        if ! (cd "$new" && npm install --prefix "$new" --no-save --no-package-lock --no-audit --no-fund \
            --fetch-retries=1 --fetch-retry-mintimeout=1000 "$package") >"$new.log" 2>&1 </dev/null; then
            rm -rf "$new"
            if grep -qE "$unreachable" "$new.log"; then
                fail 3 "the registry of npm cannot be reached, so $package is not installed; npm's words are in $new.log"
            fi
            cat "$new.log" >&2
            fail 1 "npm could not install $package"
        fi
        # Under its own name only when it is whole; another run may have been quicker.
        [ -e "$home" ] || mv "$new" "$home"
        rm -rf "$new" "$new.log"
    fi
    [ -x "$home/node_modules/.bin/$name" ] || fail 1 "$package has no program \`$name\`; remove $home and try again"
    ln -sfn "../${home##*/}/node_modules/.bin/$name" "$folder/bin/$name"
}

install node "$node"
for agent in "$@"; do install "$agent" "$(package_of "$agent")"; done
echo "$folder/bin"
