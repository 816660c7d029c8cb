package sandboxtest

import "golang.org/x/sys/unix"

// familyAttempts make sockets that reach more than a network, or past what
// governs networks.
var familyAttempts = []attempt{
	{name: "a socket to the hypervisor", rare: true, do: socket(unix.AF_VSOCK, unix.SOCK_STREAM, 0)},
	{name: "a socket of the kernel's ciphers", rare: true, do: socket(unix.AF_ALG, unix.SOCK_SEQPACKET, 0)},
	{name: "a packet socket", rare: true, do: socket(unix.AF_PACKET, unix.SOCK_DGRAM, 0)},
	{name: "a raw socket", do: socket(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP)},
	{name: "a netlink socket for events of devices", do: socket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_KOBJECT_UEVENT)},
	{name: "a netlink socket of the firewall", rare: true, do: socket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_NETFILTER)},
	{name: "a netlink socket of the audit", rare: true, do: socket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_AUDIT)},
	{name: "a generic netlink socket", do: socket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_GENERIC)},
	{name: "a multipath TCP socket", rare: true, do: socket(unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP)},
	{name: "a multipath TCP socket of version 6", rare: true, do: socket(unix.AF_INET6, unix.SOCK_STREAM, unix.IPPROTO_MPTCP)},
	// The kernel reads 32 bits of the arguments, a filter might read 64.
	{name: "a socket to the hypervisor with high bits", rare: true, do: socket(1<<32|unix.AF_VSOCK, unix.SOCK_STREAM, 0)},
	{name: "a multipath TCP socket with high bits", rare: true, do: socket(unix.AF_INET, unix.SOCK_STREAM, 1<<32|unix.IPPROTO_MPTCP)},
	{name: "a netlink socket with high bits", do: socket(1<<32|unix.AF_NETLINK, unix.SOCK_RAW, 1<<32|unix.NETLINK_KOBJECT_UEVENT)},
}

func socket(family, kind, protocol uintptr) func(*target) error {
	return func(*target) error { return sys(unix.SYS_SOCKET, family, kind, protocol) }
}
