/* SPDX-License-Identifier: Apache-2.0
 *
 * tiles.h - the tile instructions in plain C, for processors that lack them.
 *
 * What the processor would refuse (a bad configuration, tiles whose shapes do not fit each other, a
 * tile used before it is configured) ends the program with a message.  One thread.
 */
#ifndef MN_TESTS_TILES_H
#define MN_TESTS_TILES_H

#include <immintrin.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TILES = 8, TILE_ROWS = 16, TILE_ROW_BYTES = 64 };

static struct {
    size_t rows[TILES], bytes[TILES];   // 0: not configured
    int8_t at[TILES][TILE_ROWS][TILE_ROW_BYTES];
} tiles;

static void tile_demand(int good, const char *what)
{
    if (good) return;
    printf("mncheck: the processor would refuse this: %s\n", what);
    exit(1);
}

/* The arguments of an instruction are read from its 64 bytes, as the processor does. */
static void tile_loadconfig(const void *p)
{
    uint8_t config[64];
    memcpy(config, p, sizeof config);
    memset(&tiles, 0, sizeof tiles);
    tile_demand(config[0] == 1, "palette is not 1");
    for (int i = 1; i < 16; i++) tile_demand(config[i] == 0, "reserved bytes are not 0");
    for (int t = 0; t < 16; t++) {
        uint16_t bytes;
        memcpy(&bytes, config + 16 + 2 * t, sizeof bytes);
        const uint8_t rows = config[48 + t];
        tile_demand(t < TILES || (!bytes && !rows), "more than 8 tiles");
        tile_demand(bytes <= TILE_ROW_BYTES && rows <= TILE_ROWS, "tile too large");
        tile_demand((bytes == 0) == (rows == 0), "tile of rows without bytes or bytes without rows");
        if (t < TILES) {
            tiles.rows[t] = rows;
            tiles.bytes[t] = bytes;
        }
    }
}

static void tile_release(void)
{
    memset(&tiles, 0, sizeof tiles);
}

static void tile_zero(int t)
{
    tile_demand(tiles.rows[t] > 0, "tile is not configured");
    memset(tiles.at[t], 0, sizeof tiles.at[t]);
}

static void tile_loadd(int t, const void *p, size_t stride)
{
    tile_zero(t);
    for (size_t r = 0; r < tiles.rows[t]; r++) {
        memcpy(tiles.at[t][r], (const char *)p + r * stride, tiles.bytes[t]);
    }
}

static void tile_stored(int t, void *p, size_t stride)
{
    tile_demand(tiles.rows[t] > 0, "tile is not configured");
    for (size_t r = 0; r < tiles.rows[t]; r++) {
        memcpy((char *)p + r * stride, tiles.at[t][r], tiles.bytes[t]);
    }
}

/* c[m][n] += sum_j a[m][4 k + j] b[k][4 n + j], wrapping. */
static void tile_dpbssd(int c, int a, int b)
{
    tile_demand(tiles.rows[c] && tiles.rows[a] && tiles.rows[b], "tile is not configured");
    tile_demand(c != a && c != b && a != b, "a tile twice");
    tile_demand(tiles.rows[a] == tiles.rows[c] && tiles.bytes[b] == tiles.bytes[c] &&
                    tiles.bytes[a] == 4 * tiles.rows[b] && tiles.bytes[c] % 4 == 0,
                "tiles do not fit each other");
    for (size_t m = 0; m < tiles.rows[c]; m++) {
        uint32_t sum[TILE_ROW_BYTES / 4];
        memcpy(sum, tiles.at[c][m], sizeof sum);
        for (size_t k = 0; k < tiles.rows[b]; k++) {
            const int8_t *x = tiles.at[a][m] + 4 * k;
            for (size_t n = 0; n < tiles.bytes[c] / 4; n++) {
                const int8_t *w = tiles.at[b][k] + 4 * n;
                sum[n] += (uint32_t)(x[0] * w[0] + x[1] * w[1] + x[2] * w[2] + x[3] * w[3]);
            }
        }
        memcpy(tiles.at[c][m], sum, sizeof sum);
    }
}

#undef _tile_loadconfig
#undef _tile_release
#undef _tile_zero
#undef _tile_loadd
#undef _tile_stored
#undef _tile_dpbssd
#define _tile_loadconfig tile_loadconfig
#define _tile_release    tile_release
#define _tile_zero       tile_zero
#define _tile_loadd      tile_loadd
#define _tile_stored     tile_stored
#define _tile_dpbssd     tile_dpbssd

#endif
