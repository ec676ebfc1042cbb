/* SPDX-License-Identifier: Apache-2.0
 *
 * map.h - a hash map from text to a number, for directories of tens of thousands of names.
 *
 * Open addressing, never shrinks, keys are borrowed.
 */
#ifndef MN_BASE_MAP_H
#define MN_BASE_MAP_H

#include "base/bytes.h"
#include "base/pages.h"

typedef struct mn_map_slot {
    mn_str   key;
    uint32_t hash;
    uint32_t value_1;   // value + 1; 0 = empty
} mn_map_slot;

typedef struct mn_map {
    mn_map_slot *slot;
    size_t       cap;   // a power of two, at least twice the entries it was made for
    size_t       count;
} mn_map;

/* Hash any bytes; the same on every machine. */
uint32_t mn_hash(const void *p, size_t n);

/* Make room for `entries`; false without memory. */
bool mn_map_init(mn_map *m, mn_pages *pages, size_t entries);

/* Add key -> value unless the key is there; returns the value now stored under it. */
uint32_t mn_map_add(mn_map *m, mn_str key, uint32_t value);

/* Find the value of a key; false if it is not there. */
bool mn_map_find(const mn_map *m, mn_str key, uint32_t *value);

#endif
