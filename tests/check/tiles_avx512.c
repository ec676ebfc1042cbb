/* SPDX-License-Identifier: Apache-2.0
 *
 * tiles_avx512.c - the amx tier on emulated tiles, so that any processor with AVX-512 can check it.
 */
#include "harness.h"

#ifdef __AVX512VNNI__
#include "tiles.h"

#define MN_TILES_EMULATED
#define mn_xmm_q4x__amx mn_xmm_q4x__tiles
#define mn_xmm_q8x__amx mn_xmm_q8x__tiles
#include "kernel/x86/mm_x_amx.c"

void mn_check_tiles(mn_kernels *k)
{
    k->mm_q4x = mn_xmm_q4x__tiles;
    k->mm_q8x = mn_xmm_q8x__tiles;
}
#else
void mn_check_tiles(mn_kernels *k)
{
    (void)k;
}
#endif
