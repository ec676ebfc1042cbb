/* SPDX-License-Identifier: Apache-2.0
 *
 * limits.h - how much a file may ask for.  Each can be set on the compiler's command line.
 *
 * They are far above what published models need and far below what hurts a phone.  What exceeds one
 * is refused with MNW_E_LIMIT and a text with both numbers.  docs/FORMAT.md lists them; those of
 * tokenizers, templates and shapes are kept in text/ and model/.
 */
#ifndef MN_FORMAT_LIMITS_H
#define MN_FORMAT_LIMITS_H

#ifndef MN_MAX_HEAD_BYTES
#define MN_MAX_HEAD_BYTES (256u << 20)   // metadata and tensor directory together
#endif
#ifndef MN_MAX_ITEMS
#define MN_MAX_ITEMS 65536u              // key/value pairs
#endif
#ifndef MN_MAX_TENSORS
#define MN_MAX_TENSORS 65536u
#endif
#ifndef MN_MAX_NAME
#define MN_MAX_NAME 256u                 // bytes of a key or of a tensor's name
#endif
#ifndef MN_MAX_STRING
#define MN_MAX_STRING (16u << 20)        // bytes of a text value
#endif
#ifndef MN_MAX_ARRAY
#define MN_MAX_ARRAY (8u << 20)          // elements of an array
#endif
#ifndef MN_MAX_DIMS
#define MN_MAX_DIMS 4u                   // of a tensor; mn_tensor has room for no more
#endif
#ifndef MN_MAX_FILE_ALIGNMENT
#define MN_MAX_FILE_ALIGNMENT (1u << 20) // general.alignment
#endif
#ifndef MN_MAX_SAFETENSORS_HEAD
#define MN_MAX_SAFETENSORS_HEAD 100000000u   // bytes, as other readers have it
#endif
#ifndef MN_MAX_SHARDS
#define MN_MAX_SHARDS 1024u              // files of one model
#endif

#endif
