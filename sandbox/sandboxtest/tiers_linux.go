package sandboxtest

import "hardshell/sandbox"

// expectation is what a tier gives under a WorkspaceWrite policy, and where it
// differs in kind from the others.
type expectation struct {
	effects sandbox.Effects
	// namespaces is a private /tmp, /dev and /dev/shm, a loopback of its own
	// under NetworkNone, and a pid namespace that ends with the provider.
	// Without, the temp is $TMPDIR only and NetworkNone refuses IP sockets.
	namespaces bool
}

// tiers is the whole of what one tier may leave open beside the others.
var tiers = map[sandbox.Tier]expectation{
	sandbox.TierNamespaces: {effects: everything, namespaces: true},
	sandbox.TierRoot:       {effects: everything, namespaces: true},
	sandbox.TierLandlock: {effects: sandbox.Effects{
		Write: sandbox.Full,
		// Landlock does not govern chmod, chown, utime and setxattr.
		Metadata: sandbox.Partial,
		// A Landlock rule only widens: nothing below a writable root can be
		// taken out again.
		ProtectedPaths: sandbox.Partial,
		Read:           sandbox.Full,
		// Processes are seen through the /proc of the host.
		Visibility: sandbox.Partial,
		Signal:     sandbox.Full,
		// Landlock governs the connection to a pathname socket from ABI 9 on.
		Unix:    sandbox.Partial,
		Network: sandbox.NetworkOpen,
	}},
}

var everything = sandbox.Effects{
	Write: sandbox.Full, Metadata: sandbox.Full, ProtectedPaths: sandbox.Full, Read: sandbox.Full,
	Visibility: sandbox.Full, Signal: sandbox.Full, Unix: sandbox.Full, Network: sandbox.NetworkOpen,
}
