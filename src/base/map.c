/* SPDX-License-Identifier: Apache-2.0
 *
 * map.c - a hash map from text to a number.
 */
#include "base/map.h"

#include <assert.h>

#include "base/cursor.h"

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0x9E3779B97F4A7C15u;
    return h ^ h >> 32;
}

uint32_t mn_hash(const void *data, size_t n)
{
    const uint8_t *p = data;
    uint64_t       h = 0x243F6A8885A308D3u ^ n;
    for (; n >= 8; n -= 8, p += 8) h = mix(h, mn_load_u64(p));
    uint64_t tail = 0;
    for (size_t i = 0; i < n; i++) tail |= (uint64_t)p[i] << (8 * i);
    h = mix(mix(h, tail), 0);
    return (uint32_t)(h ^ h >> 29);
}

bool mn_map_init(mn_map *m, mn_pages *pages, size_t entries)
{
    *m = (mn_map){ 0 };
    size_t cap = 16;
    while (cap / 2 < entries) {
        if (cap > SIZE_MAX / 4) return false;
        cap *= 2;
    }
    m->slot = mn_pages_push_zero(pages, cap, sizeof *m->slot);
    if (!m->slot) return false;
    m->cap = cap;
    return true;
}

static size_t find_slot(const mn_map *m, mn_str key, uint32_t hash)
{
    size_t i = hash & (m->cap - 1);
    while (m->slot[i].value_1 && !(m->slot[i].hash == hash && mn_str_eq(m->slot[i].key, key))) {
        i = (i + 1) & (m->cap - 1);
    }
    return i;
}

uint32_t mn_map_add(mn_map *m, mn_str key, uint32_t value)
{
    const uint32_t hash = mn_hash(key.p, key.n);
    mn_map_slot   *s = &m->slot[find_slot(m, key, hash)];
    if (s->value_1) return s->value_1 - 1;
    assert(m->count < m->cap / 2);   // callers say how many entries there will be
    m->count++;
    *s = (mn_map_slot){ .key = key, .hash = hash, .value_1 = value + 1 };
    return value;
}

bool mn_map_find(const mn_map *m, mn_str key, uint32_t *value)
{
    if (!m->cap) return false;
    const mn_map_slot *s = &m->slot[find_slot(m, key, mn_hash(key.p, key.n))];
    if (!s->value_1) return false;
    *value = s->value_1 - 1;
    return true;
}
