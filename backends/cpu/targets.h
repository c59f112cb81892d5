// Before hwy/foreach_target.h: what lies close to another instruction set is not worth its compile time.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)
#endif
