#include "textflag.h"

#define SYS_prlimit64 302
#define RLIMIT_NOFILE 7

// func prlimit(limit unsafe.Pointer) (result uintptr)
TEXT ·prlimit(SB),NOSPLIT,$0-16
	XORQ DI, DI
	MOVQ $RLIMIT_NOFILE, SI
	XORQ DX, DX
	MOVQ limit+0(FP), R10
	MOVQ $SYS_prlimit64, AX
	SYSCALL
	MOVQ AX, result+8(FP)
	RET
