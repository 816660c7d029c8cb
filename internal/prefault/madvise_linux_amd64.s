#include "textflag.h"

#define SYS_madvise 28

// func madvise(address, length, advice uintptr) (result uintptr)
TEXT ·madvise(SB),NOSPLIT,$0-32
	MOVQ address+0(FP), DI
	MOVQ length+8(FP), SI
	MOVQ advice+16(FP), DX
	MOVQ $SYS_madvise, AX
	SYSCALL
	MOVQ AX, result+24(FP)
	RET
