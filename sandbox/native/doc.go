// Package native confines commands with nothing but the kernel: no other program
// is started for it. See docs/security.md for what each tier enforces.
//
// The tiers, from the most complete on:
//
//   - TierNamespaces: user, mount, pid, ipc and uts namespaces, and a network
//     namespace when the policy has no network. They are made once per policy;
//     a small process holds them as pid 1, and commands join them.
//   - TierRoot: the same without a user namespace, by root.
//   - TierLandlock: Landlock and seccomp alone, where namespaces are refused.
//
// Every tier adds no_new_privs, a seccomp filter and, where the kernel has it,
// Landlock. Which tier a host allows is found by making one, never guessed from
// a version.
package native
