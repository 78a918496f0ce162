# What the scripts of this folder share: packages unpacked beside the system, and a program run as if they were installed.
# shellcheck shell=bash

downstream=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${OXUV_DOWNSTREAM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/oxuv-downstream}

fail() { printf 'downstream: %s\n' "$*" >&2; exit 1; }

# Says what is missing before anything is begun, and makes the cache.
prepare() {
    local tool
    for tool in apt-get apt-cache dpkg-deb unshare mount ip timeout; do
        command -v "$tool" >/dev/null || fail "there is no $tool: these checks need Debian 12, util-linux, mount and iproute2"
    done
    mkdir -p "$cache"
    cache=$(realpath "$cache")
}

# The version of a package, the newest that begins as asked.
newest() {
    apt-cache madison "$1" 2>/dev/null | awk -F '|' -v begin="$2" '{ gsub(/ /, "") } index($2, begin) == 1 && !n++ { print $2 }'
}

# Brings apt's lists of packages, where there are none yet and the user may.
lists() {
    [ -n "$(newest libuv1 "")" ] || [ "$(id -u)" -ne 0 ] || apt-get update -qq >&2 || true
}

# Unpacks packages, and those they depend on that this machine lacks, into one tree: unpack NAME PACKAGE[=BEGIN OF VERSION]...
# Nothing is installed. What the cache has is taken from there, without a look at the network.
unpack() {
    local name=$1 tree=$cache/$1 wanted=() package version plan
    shift
    [ "$(cat "$tree/packages" 2>/dev/null)" = "$*" ] && return
    lists
    for package in "$@"; do
        case $package in
            *=*) version=$(newest "${package%%=*}" "${package#*=}") ;;
            *) version=$(newest "$package" "") ;;
        esac
        [ -n "$version" ] || fail "apt knows no package $package: is this Debian 12, and was apt-get update run?" \
            "(OXUV_NO_DOWNSTREAM=1 leaves these checks out of .ci/run)"
        wanted+=("${package%%=*}=$version")
    done
    plan=$(apt-get install --simulate --no-install-recommends "${wanted[@]}") || fail "apt cannot resolve ${wanted[*]}"
    rm -rf "$tree" "$tree.new"
    mkdir -p "$tree.new/debs" "$tree.new/root/usr"/{bin,sbin,lib,lib64}
    for package in bin sbin lib lib64; do ln -s "usr/$package" "$tree.new/root/$package"; done
    local all=("${wanted[@]}")
    while read -r package; do all+=("$package"); done < <(sed -nE 's/^Inst ([^ ]+) (\[[^]]*\] )?\(([^ ]+) .*/\1=\3/p' <<<"$plan")
    (cd "$tree.new/debs" && apt-get -qq -o APT::Sandbox::User=root download "${all[@]}") >&2 ||
        fail "the packages of $name could not be fetched: $(printf '%s\n' "${all[@]}" | sort -u | tr '\n' ' ')" \
            "(OXUV_NO_DOWNSTREAM=1 leaves these checks out of .ci/run)"
    for package in "$tree.new"/debs/*.deb; do
        dpkg-deb --fsys-tarfile "$package" | tar -x -C "$tree.new/root" --no-same-owner --keep-directory-symlink
    done
    printf '%s\n' "${wanted[0]#*=}" >"$tree.new/version"
    rm -rf "$tree.new/debs"
    printf '%s\n' "$*" >"$tree.new/packages"
    mv "$tree.new" "$tree"
}

# Debian's own libuv: its file.
debian_library() {
    unpack libuv1 libuv1
    find "$cache/libuv1/root/usr/lib" -name 'libuv.so.1.*' -type f
}

# Sets `ours`: the library that is installed in a prefix, or without one is built and installed into the cache.
our_library() {
    local prefix=${1:-$cache/prefix}
    [ -n "$1" ] || cargo xtask install --prefix "$prefix" >&2
    ours=$(realpath "$prefix/lib/libuv.so.1")
}

# Sets `newer`: libuv 1.53 as a shared library, of the crate that has its source.
newer_library() {
    local folder
    folder=$(cargo build --quiet --release --package oxuv-order-libuv --message-format=json-render-diagnostics |
        sed -nE 's|.*"out_dir":"([^"]*/libuv-sys2-[^"]*)".*|\1|p')
    newer=$cache/libuv-1.53.so
    cc -shared -Wl,-soname,libuv.so.1 -o "$newer" -Wl,--whole-archive "$folder/libuv.a" -Wl,--no-whole-archive -lpthread -ldl -lrt
}

# The trees for a kind of server and its load, unpacked.
trees_of() {
    local program each packages
    case $1 in http) program=node ;; echo) program=uvloop ;; dns) program=bind ;; *) fail "there is no server $1" ;; esac
    for each in "$program" servers; do
        mapfile -t packages <"$downstream/$each/packages"
        unpack "$each" "${packages[@]}"
    done
    echo "$program:servers"
}

# Runs a command where unpacked trees are laid over /usr, and libuv.so.1 is a link to the library given:
# inside TREE[:TREE...] LIBRARY SECONDS COMMAND...
# In namespaces of its own: what it starts ends with it, and it has no network but its own loopback.
inside() {
    local library=$2 seconds=$3 trees= each layers layer user=()
    for each in ${1//:/ }; do trees+=:$cache/$each/root/usr; done
    shift 3
    layers=$(mktemp -d)
    layer=$layers/usr/lib/$(basename "$(dirname "$(debian_library)")")
    mkdir -p "$layer"
    ln -s "$library" "$layer/libuv.so.1"
    [ "$(id -u)" -eq 0 ] || user=(--map-root-user)
    local status=0
    OXUV_LIBRARY=$library timeout --kill-after 5 "$seconds" \
        unshare "${user[@]}" --mount --pid --net --fork --kill-child --mount-proc bash -c '
            mount -t overlay overlay -o "lowerdir=$1" /usr && ip link set lo up || exit 125
            shift
            exec "$@"' inside "$layers/usr$trees:/usr" "$@" </dev/null || status=$?
    rm -rf "$layers"
    return $status
}
