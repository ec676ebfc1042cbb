/* SPDX-License-Identifier: Apache-2.0
 *
 * unicode.c - look up the class of a code point.
 *
 *      cp ---> table_index[cp / 128] ---> table_block[(that * 128 + cp % 128) / 2] ---> one of two nibbles
 */
#include "text/unicode.h"

#include "text/unicode_table.h"

unsigned mn_unicode_info(uint32_t cp)
{
    uint32_t row = cp / TABLE_BLOCK;
    if (row >= TABLE_BLOCKS) row = TABLE_BLOCKS - 1;
    const uint8_t pair = table_block[(table_index[row] * TABLE_BLOCK + cp % TABLE_BLOCK) / 2];
    return cp & 1 ? pair >> 4 : pair & 15;
}
