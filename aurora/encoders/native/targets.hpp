// The instruction sets that the native engine is compiled for: the compiler's baseline, SSE4, AVX2
// and AVX-512. Others would add nothing that its loops use or, where the compiler does not know the
// width of a register, could not hold its arrays of registers.
// To be included before anything of Highway.
#pragma once

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
