// Package seccomp makes the classic-BPF program that every confined command
// carries. The program closes what namespaces and Landlock leave open: kernel
// interfaces that few programs need and many exploits used, ways to a new
// namespace or mount, and sockets that no other layer governs. It is for Linux
// on amd64 and arm64; elsewhere the package is empty.
//
// A refused call fails with an error number and never kills: programs probe for
// what the kernel offers, and go on without it.
//
// A filter sees the registers of a call, not the memory that they point to. So
// clone3, whose flags lie in memory, does not exist for a confined command, and
// libc falls back to clone. See seccomp(2) and
// Documentation/userspace-api/seccomp_filter.rst of the kernel.
package seccomp
