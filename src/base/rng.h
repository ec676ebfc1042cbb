/* SPDX-License-Identifier: Apache-2.0
 *
 * rng.h - counter-based random numbers: a pure function of (seed, stream, counter).
 *
 * There is no state to save, to share or to advance in the wrong order: the draw for position 17 is
 * the same whether or not the others were made.  Philox-4x32-10 (Salmon et al., "Parallel random
 * numbers: as easy as 1, 2, 3", SC 2011).
 */
#ifndef MN_BASE_RNG_H
#define MN_BASE_RNG_H

#include <stdint.h>

/* Four independent 32-bit words. */
void mn_rng_block(uint64_t seed, uint64_t stream, uint64_t counter, uint32_t out[4]);

/* One 64-bit word. */
uint64_t mn_rng_u64(uint64_t seed, uint64_t stream, uint64_t counter);

/* Uniform in [0, 1), 53 bits. */
double mn_rng_uniform(uint64_t seed, uint64_t stream, uint64_t counter);

#endif
