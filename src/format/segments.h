/* SPDX-License-Identifier: Apache-2.0
 *
 * segments.h - checksums of the parts of a file that was laid out for running in place.
 *
 *     minnow.segments          u64[2 n]    where in the file each begins, and its bytes
 *     minnow.segments.sha256   u8[32 n]    their digests
 *
 * A segment is a layer, or what comes before or after the layers.  Opening a file does not look at them.
 */
#ifndef MN_FORMAT_SEGMENTS_H
#define MN_FORMAT_SEGMENTS_H

#include "base/meta.h"
#include "base/sha256.h"

#define MN_SEGMENTS_PREFIX "minnow.segments"
#define MN_SEGMENTS        "minnow.segments"
#define MN_SEGMENTS_SHA256 "minnow.segments.sha256"

typedef struct mn_segments {
    const mn_meta_item *place, *digest;   // NULL if the file has none
    size_t              n;
} mn_segments;

/* Find the segments and check that they are inside the file.
 *
 * Errors: MNW_E_FORMAT names the item. */
mnw_status mn_segments_read(const mn_content *c, uint64_t file_bytes, mn_segments *out, mn_err *err);

uint64_t mn_segment_bytes(const mn_segments *s, size_t i);

/* Verify segment i of a whole file.
 *
 * Errors: MNW_E_CORRUPT names segment and place. */
mnw_status mn_segments_check(const mn_segments *s, size_t i, mn_bytes file, mn_err *err);

#endif
