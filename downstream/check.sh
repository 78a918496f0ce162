# For checks that are shell scripts.
# shellcheck shell=bash

# ok NAME COMMAND...: a check, passed if the command succeeds.
ok() {
    local name=$1 said
    shift
    if said=$("$@" 2>&1); then
        echo "ok - $name"
    else
        echo "not ok - $name: $(head -c 600 <<<"$said" | tr '\n' ' ')"
    fi
}

# Whether the library under test, and no other libuv, is in a process.
loaded() {
    [ "$(awk '$6 ~ /libuv/ { print $6 }' "/proc/$1/maps" | sort -u)" = "$OXUV_LIBRARY" ] ||
        { echo "not $OXUV_LIBRARY"; grep libuv "/proc/$1/maps"; return 1; }
}

same() { [ "$1" = "$2" ] || { echo "$1 is not $2"; return 1; }; }

# until_true COMMAND...: waits for a condition, ten seconds at most.
until_true() {
    local end=$((SECONDS + 10))
    while [ $SECONDS -lt $end ]; do "$@" >/dev/null 2>&1 && return; sleep 0.05; done
    "$@"
}
