# What cost and soak share: a server, and its load.
# shellcheck shell=bash
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../check.sh"

# start KIND COMMAND...: the server http, echo or dns, run by a command if one is given. Sets `server` and `port`.
start() {
    local kind=$1 command=()
    shift
    case $kind in
        http) command=(node "$here/http.js") ;;
        echo) command=(/usr/bin/python3 "$here/echo.py") ;;
        dns) zone && command=(named -f -n 2 -c named.conf) ;;
    esac
    # Compiled code is no concern of the library, and valgrind slow with it.
    [ $# -eq 0 ] || [ "$kind" != http ] || command=(node --jitless --no-warnings "$here/http.js")
    "$@" "${command[@]}" >said 2>log &
    server=$!
    if [ "$kind" = dns ]; then
        port=5300
    else
        until [ -s said ]; do kill -0 "$server" && sleep 0.05; done
        port=$(cat said)
    fi
    until_true loaded "$server"
}

# A zone for BIND, and questions about it.
zone() {
    mkdir one
    printf '$TTL 60\n@ IN SOA ns.example. host.example. 1 3600 600 86400 60\n@ IN NS ns\nns IN A 127.0.0.1\n' >one/zone
    for i in {1..500}; do echo "host$i IN A 10.1.$((i / 250)).$((i % 250))"; done >>one/zone
    for i in {1..500}; do echo "host$i.example A"; done >questions
    cat >named.conf <<END_OF_CONF
options { directory "$PWD/one"; listen-on port 5300 { 127.0.0.1; }; listen-on-v6 { none; }; recursion no; dnssec-validation no;
  pid-file none; session-keyfile "$PWD/one/key"; managed-keys-directory "$PWD/one"; };
controls { };
zone example { type primary; file "zone"; };
END_OF_CONF
}

# load KIND SECONDS CONNECTIONS [close]: keeps the server busy, and prints how many requests were answered, and how many failed.
load() {
    if [ "$1" != dns ]; then
        wrk --threads 1 --connections "$3" --duration "$2s" --timeout 30s --script "$here/load.lua" "http://127.0.0.1:$port/" \
            -- "$1" "${4:-}" 2>&1 >wrk | tail -n 1
        return
    fi
    local end=$((SECONDS + $2)) answered=0 failed=0 got way
    while [ $SECONDS -lt $end ]; do
        for way in +notcp +tcp; do
            got=$(dig +tries=1 +time=5 @127.0.0.1 -p "$port" "$way" +keepopen -f questions +short | grep -c '^10\.1\.' || true)
            answered=$((answered + got)) failed=$((failed + 500 - got))
        done
    done
    echo "$answered $failed"
}

# counted SECONDS COMMAND...: how many system calls the server made while a command ran, by name: lines of NUMBER NAME.
counted() {
    local tracer
    strace -f -c -o calls -p "$server" 2>attached &
    tracer=$!
    until grep -q attached attached; do kill -0 "$tracer" && sleep 0.05; done
    "$@"
    kill -TERM "$tracer"
    wait "$tracer" || true
}

# Of those that `counted` saw, the number whose names match: for each thread one that was under way is among them.
calls() { awk -v names="^($1)\$" '$4 ~ /^[0-9]+$/ && $NF ~ names { n += $4 } END { print n + 0 }' calls; }
