//go:build linux

#include "textflag.h"

// The layout of step, in program_linux_amd64.go.
#define STEP_NR    0
#define STEP_ARGS  8
#define STEP_SAVE  56
#define STEP_FLAGS 64
#define STEP_SIZE  72

#define LAX      0x1
#define FORK     0x2
#define INDIRECT 0x100

// The layout of struct clone_args: clone(2).
#define ARGS_FLAGS  0
#define ARGS_PIDFD  8
#define ARGS_SIGNAL 32

#define SYS_rt_sigprocmask 14
#define SYS_clone          56
#define SYS_exit_group     231
#define SYS_clone3         435
#define SIG_SETMASK        2

// func runChild(args *cloneArgs, size uintptr, steps *step, failed *failure) (pid uintptr)
//
// A size of 0 is for clone, others for clone3. The child of
// CLONE_VM|CLONE_VFORK runs on this very stack while the
// parent's thread stands still. It therefore does not touch the stack: no call,
// no push. All its state is in registers that a system call preserves, which is
// all but AX, CX and R11:
//
//	R12  the current step
//	R13  the index of the current step
//	BX   where a failure is reported
//
// All signals are blocked from before the clone until the parent goes on. The
// child's last step but one unblocks them for the program.
TEXT ·runChild(SB),NOSPLIT,$16-40
	MOVQ $-1, AX
	MOVQ AX, all-8(SP)
	MOVQ $SIG_SETMASK, DI
	LEAQ all-8(SP), SI
	LEAQ old-16(SP), DX
	MOVQ $8, R10
	MOVQ $SYS_rt_sigprocmask, AX
	SYSCALL

	MOVQ steps+16(FP), R12
	XORQ R13, R13
	MOVQ failed+24(FP), BX
	MOVQ args+0(FP), DI
	MOVQ size+8(FP), SI
	MOVQ $SYS_clone3, AX
	TESTQ SI, SI
	JNZ   clone

	// clone(flags, stack, pidfd, child_tid, tls), on the same stack.
	MOVQ ARGS_PIDFD(DI), DX
	MOVQ ARGS_SIGNAL(DI), AX
	MOVQ ARGS_FLAGS(DI), DI
	ORQ  AX, DI
	XORQ R10, R10
	XORQ R8, R8
	MOVQ $SYS_clone, AX

clone:
	SYSCALL
	TESTQ AX, AX
	JZ    next

	MOVQ AX, pid+32(FP)
	MOVQ $SIG_SETMASK, DI
	LEAQ old-16(SP), SI
	XORQ DX, DX
	MOVQ $8, R10
	MOVQ $SYS_rt_sigprocmask, AX
	SYSCALL
	RET

next:
	MOVQ STEP_NR(R12), AX
	MOVQ (STEP_ARGS+0)(R12), DI
	MOVQ (STEP_ARGS+8)(R12), SI
	MOVQ (STEP_ARGS+16)(R12), DX
	MOVQ (STEP_ARGS+24)(R12), R10
	MOVQ (STEP_ARGS+32)(R12), R8
	MOVQ (STEP_ARGS+40)(R12), R9
	MOVQ STEP_FLAGS(R12), CX
	TESTQ $(0x3f*INDIRECT), CX
	JZ   call

	// An argument whose value is the result of an earlier step.
	TESTQ $(INDIRECT<<0), CX
	JZ   2(PC)
	MOVQ (DI), DI
	TESTQ $(INDIRECT<<1), CX
	JZ   2(PC)
	MOVQ (SI), SI
	TESTQ $(INDIRECT<<2), CX
	JZ   2(PC)
	MOVQ (DX), DX
	TESTQ $(INDIRECT<<3), CX
	JZ   2(PC)
	MOVQ (R10), R10
	TESTQ $(INDIRECT<<4), CX
	JZ   2(PC)
	MOVQ (R8), R8
	TESTQ $(INDIRECT<<5), CX
	JZ   2(PC)
	MOVQ (R9), R9

call:
	SYSCALL
	CMPQ AX, $0xfffffffffffff001
	JCC  failed
	MOVQ STEP_FLAGS(R12), CX
	TESTQ $FORK, CX
	JNZ  forked
	MOVQ STEP_SAVE(R12), CX
	TESTQ CX, CX
	JZ   advance
	MOVQ AX, (CX)

advance:
	INCQ R13
	ADDQ $STEP_SIZE, R12
	JMP  next

forked:
	// The new process goes on. The old one runs again when that has started
	// its program or has ended, as CLONE_VFORK says, and is done.
	TESTQ AX, AX
	JZ   advance
	JMP  exit

failed:
	MOVQ STEP_FLAGS(R12), CX
	TESTQ $LAX, CX
	JNZ  advance
	NEGQ AX
	MOVQ R13, 0(BX)
	MOVQ AX, 8(BX)

exit:
	MOVQ $127, DI
	MOVQ $SYS_exit_group, AX
	SYSCALL
	JMP  exit
