/* SPDX-License-Identifier: Apache-2.0
 *
 * segments.c - checksums of the parts of a file.
 */
#include "format/segments.h"

#include <inttypes.h>

static uint64_t at(const mn_meta_item *item, uint64_t i)
{
    return (uint64_t)mn_meta_int_at(item, i);
}

mnw_status mn_segments_read(const mn_content *c, uint64_t file_bytes, mn_segments *out, mn_err *err)
{
    *out = (mn_segments){ 0 };
    const mn_meta_item *place, *digest;
    MN_TRY(mn_meta_ints(c, MN_SEGMENTS, &place, err));
    MN_TRY(mn_meta_ints(c, MN_SEGMENTS_SHA256, &digest, err));
    if (!place && !digest) return MNW_OK;
    MN_FAIL_IF(!place || place->count % 2 != 0, err, MNW_E_FORMAT,
               MN_SEGMENTS ": %" PRIu64 " numbers, expected two for each segment",
               place ? place->count : 0);
    MN_FAIL_IF(!digest || digest->elem != MN_META_U8 ||
                   digest->count / MN_SHA256_BYTES != place->count / 2 ||
                   digest->count % MN_SHA256_BYTES != 0,
               err, MNW_E_FORMAT,
               MN_SEGMENTS_SHA256 ": %" PRIu64 " values of type %s, expected %d u8 for each of %" PRIu64
               " segments", digest ? digest->count : 0, digest ? mn_meta_type_name(digest->elem) : "?",
               MN_SHA256_BYTES, place->count / 2);
    const size_t n = (size_t)(place->count / 2);
    for (size_t i = 0; i < n; i++) {
        const uint64_t begin = at(place, 2 * i), bytes = at(place, 2 * i + 1);
        MN_FAIL_IF(begin > file_bytes || bytes > file_bytes - begin, err, MNW_E_FORMAT,
                   MN_SEGMENTS ": segment %zu is %" PRIu64 " bytes at offset %" PRIu64
                   ", the file has %" PRIu64, i, bytes, begin, file_bytes);
    }
    *out = (mn_segments){ place, digest, n };
    return MNW_OK;
}

uint64_t mn_segment_bytes(const mn_segments *s, size_t i)
{
    return at(s->place, 2 * i + 1);
}

mnw_status mn_segments_check(const mn_segments *s, size_t i, mn_bytes file, mn_err *err)
{
    const uint64_t begin = at(s->place, 2 * i), bytes = at(s->place, 2 * i + 1);
    mn_sha256      sha;
    uint8_t        digest[MN_SHA256_BYTES];
    mn_sha256_init(&sha);
    mn_sha256_add(&sha, file.p + begin, (size_t)bytes);
    mn_sha256_final(&sha, digest);
    MN_FAIL_IF(memcmp(digest, s->digest->data + i * MN_SHA256_BYTES, MN_SHA256_BYTES) != 0, err,
               MNW_E_CORRUPT,
               "segment %zu of %zu, %" PRIu64 " bytes at offset %" PRIu64
               ": its SHA-256 is not that of " MN_SEGMENTS_SHA256, i, s->n, bytes, begin);
    return MNW_OK;
}
