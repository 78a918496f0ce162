# Run in a network namespace of its own, as root: brings up the loopback, and an interface to nowhere with a default route,
# since tests of multicast and of unreachable hosts need one. What is sent there is dropped. Names are looked up in the
# files of the folder $1 alone, not in this machine's. Then becomes the rest of "$@".
for file in hosts resolv.conf; do
    [ ! -e "/etc/$file" ] || mount --bind "$1/$file" "/etc/$file" || exit 1
done
shift
{ echo 0 >/proc/sys/net/ipv6/conf/default/accept_dad; } 2>/dev/null
ip -batch - <<'COMMANDS' || exit 1
link set lo up
link add oxuv0 type veth peer name oxuv1
link set oxuv1 up
link set oxuv0 up
addr add 192.0.2.1/24 dev oxuv0
addr add fd00::1/64 dev oxuv0 nodad
neigh add 192.0.2.254 lladdr 02:00:00:00:00:02 dev oxuv0 nud permanent
neigh add fd00::254 lladdr 02:00:00:00:00:02 dev oxuv0 nud permanent
route add default via 192.0.2.254
route add default via fd00::254 dev oxuv0
COMMANDS
exec "$@"
