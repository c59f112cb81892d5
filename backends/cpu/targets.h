// Before hwy/foreach_target.h: what lies close to another instruction set is not worth its compile time.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)
#endif
// The fallback has vectors of one number with every compiler: emulated ones take minutes to compile.
#ifndef HWY_BROKEN_EMU128
#define HWY_BROKEN_EMU128 1
#endif
