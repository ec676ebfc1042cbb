/* SPDX-License-Identifier: Apache-2.0
 *
 * digest.c - SHA-256 of a stretch of a file.
 */
#include <minnow/digest.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/context.h"
#include "base/sha256.h"

enum { PIECE = 1 << 16 };

static mnw_status digest(mnw_ctx *ctx, int fd, const char *path, uint64_t offset, uint64_t length,
                         mn_sha256 *s)
{
    uint8_t buf[PIECE];
    uint64_t done = 0;
    while (length == 0 || done < length) {
        const size_t want = length && length - done < PIECE ? (size_t)(length - done) : PIECE;
        ssize_t got = pread(fd, buf, want, (off_t)(offset + done));
        if (got < 0 && errno == EINTR) continue;
        MN_FAIL_IF(got < 0, &ctx->err, MNW_E_IO, "%s: cannot read: %s", path, strerror(errno));
        if (got == 0) {
            MN_FAIL_IF(length, &ctx->err, MNW_E_IO,
                       "%s: ends at byte %" PRIu64 ", expected %" PRIu64, path, offset + done,
                       offset + length);
            break;
        }
        mn_sha256_add(s, buf, (size_t)got);
        done += (uint64_t)got;
        MN_TRY(mn_progress(ctx, &ctx->err, "sha256", done, length));
    }
    return MNW_OK;
}

mnw_status mnw_digest_file(mnw_ctx *ctx, const char *path, uint64_t offset, uint64_t length,
                           char *hex)
{
    if (!ctx || !path || !hex) return MNW_E_ARG;
    mn_err_clear(&ctx->err);
    hex[0] = 0;
    MN_FAIL_IF(offset > INT64_MAX || length > INT64_MAX - offset, &ctx->err, MNW_E_ARG,
               "%s: offset %" PRIu64 " and length %" PRIu64 " are beyond any file", path, offset,
               length);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    MN_FAIL_IF(fd < 0, &ctx->err, MNW_E_NOENT, "%s: cannot open: %s", path, strerror(errno));

    mn_sha256 s;
    uint8_t sum[MN_SHA256_BYTES];
    mn_sha256_init(&s);
    const mnw_status st = digest(ctx, fd, path, offset, length, &s);
    close(fd);
    if (st) return st;
    mn_sha256_final(&s, sum);
    mn_sha256_hex(sum, hex);
    return MNW_OK;
}
