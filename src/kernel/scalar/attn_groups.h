/* SPDX-License-Identifier: Apache-2.0
 *
 * attn_groups.h - the outside of the vector attention kernels, the same in every tier.
 *
 * A tier's file defines `attend` (always inline, for at most GROUP query vectors whose sums fit its
 * registers) and then its two slots with MN_ATTN_FAMILY(avx2).
 */
#ifndef MN_KERNEL_ATTN_GROUPS_H
#define MN_KERNEL_ATTN_GROUPS_H

/* One slot: groups of at most GROUP query vectors, as even as they can be. */
#define MN_ATTN_SLOT(name, i8)                                                                     \
    void name(float *o, size_t ldo, const float *q, size_t ldq, const mn_kv_head *kv, size_t n,    \
              size_t G, size_t P, float scale, float *scratch)                                     \
    {                                                                                              \
        for (size_t left = (G + GROUP - 1) / GROUP, g; G > 0; left--, G -= g) {                    \
            g = (G + left - 1) / left;                                                             \
            attend(o, ldo, q, ldq, kv, n, g, P, scale, scratch, i8);                               \
            o += g * ldo;                                                                          \
            q += g * ldq;                                                                          \
        }                                                                                          \
    }

#define MN_ATTN_FAMILY(isa)                                                                        \
    MN_ATTN_SLOT(mn_attn_f16__##isa, false)                                                        \
    MN_ATTN_SLOT(mn_attn_i8__##isa, true)

/* scores() with the usual head sizes as constants. */
#define MN_ATTN_SCORES(out, ld, q, ldq, kv, n, G, P, scale, i8)                                    \
    do {                                                                                           \
        if ((P) == 64) scores(out, ld, q, ldq, kv, n, G, 64, scale, i8);                           \
        else if ((P) == 128) scores(out, ld, q, ldq, kv, n, G, 128, scale, i8);                    \
        else scores(out, ld, q, ldq, kv, n, G, P, scale, i8);                                      \
    } while (0)

#endif
