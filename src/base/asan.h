/* SPDX-License-Identifier: Apache-2.0
 *
 * asan.h - tell AddressSanitizer which arena bytes are in use; nothing without it.
 */
#ifndef MN_BASE_ASAN_H
#define MN_BASE_ASAN_H

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MN_ASAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define MN_ASAN 1
#endif

#ifdef MN_ASAN
#include <sanitizer/asan_interface.h>
#define mn_asan_poison(p, n) __asan_poison_memory_region((p), (n))
#define mn_asan_unpoison(p, n) __asan_unpoison_memory_region((p), (n))
#else
#define mn_asan_poison(p, n) ((void)(p), (void)(n))
#define mn_asan_unpoison(p, n) ((void)(p), (void)(n))
#endif

#endif
