// Package sandboxtest is the conformance and escape suite of the seam sandbox.
//
// It knows nothing but the seams: every check makes a policy, has the provider
// under test confine it, spawns real programs through the runtime that belongs
// to the provider, and then looks from outside at the files, the processes and
// the sockets of the host. What bash cannot attempt, raw system calls above all,
// the test binary itself attempts when it is executed again inside of the
// sandbox; that is what Main is for.
//
// What a tier may leave open stands in one table (tiers.go). Where a
// confinement reports an effect class as full, every way around it must fail;
// where it reports less, the checks of that class tolerate the gap and say so.
//
// Each check finds its own processes by a marker that no other process of the
// machine carries, and leaves neither processes nor files behind, also when it
// fails.
package sandboxtest
