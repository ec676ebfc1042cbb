/* SPDX-License-Identifier: Apache-2.0
 *
 * text_in.h - documents of a corpus, one after another, from wherever they are.
 *
 *      file.txt             a document
 *      file.jsonl           one in each line: an object with the text in its member "text"
 *      file.jsonl.xz ...    the same, packed
 *      file.tar.gz ...      the same for each member
 *      folder/              the same for each file below it, in the order of their paths
 *
 * Long documents come in pieces, which end after a line wherever the next line does not begin with a blank:
 * there a pre-tokenizer cuts as well.  In folders and archives, members with a NUL byte are taken for binary
 * and left out.
 *
 *     MN_TRY(mn_text_open(&in, mem, path, err));
 *     while ((st = mn_text_next(&in, &t, err)) == MNW_OK && t.text.p) ...
 *     mn_text_done(&in);                                           // on every way out
 */
#ifndef MN_DATA_TEXT_IN_H
#define MN_DATA_TEXT_IN_H

#include "base/pages.h"
#include "data/packed.h"

enum {
    MN_TEXT_PIECE = 64 << 10,        // bytes of a piece at most, but for a JSON document
    MN_TEXT_LINE_MAX = 64 << 20,     // bytes of a line of JSON
};

typedef struct mn_text_piece {
    mn_str   text;      // any bytes; text.p is NULL after the last one
    uint64_t document;  // its number, counted over all files
    bool     more;      // the document goes on in the next piece
} mn_text_piece;

typedef struct mn_text_in {
    mn_mem     *mem;
    mn_pages    pages;
    mn_os_file *file;        // [n_files]
    size_t      n_files;
    uint64_t    done, total; // bytes of files, as they lie there: progress
    uint64_t    skipped;     // members taken for binary

    size_t      next_file;
    bool        folder;      // there may be anything in it
    bool        open;        // packed, on file next_file - 1
    mn_packed   packed;
    char        name[256];   // of the member, if in an archive

    bool        reading;     // a member
    bool        json, first; // its form; nothing of it was given yet
    bool        ended;       // all of it is in the buffer
    bool        within;      // the last piece was not its document's end
    char       *buf;         // [cap]; what is to be given is [at, end)
    size_t      cap, at, end;
    uint64_t    line, documents;
    char       *text;        // [text_cap] a JSON text unescaped
    size_t      text_cap;
} mn_text_in;

/* Open a file or a folder.  Zeroed, or after an error, *in may be given to mn_text_done.
 *
 * Errors: MNW_E_NOENT, MNW_E_IO, MNW_E_FORMAT, MNW_E_LIMIT, MNW_E_NOMEM. */
mnw_status mn_text_open(mn_text_in *in, mn_mem *mem, const char *path, mn_err *err);

/* The next piece; valid until the next call.
 *
 * Errors: as mn_packed_open; MNW_E_FORMAT names the line of what is no JSON, or has no text; MNW_E_LIMIT. */
mnw_status mn_text_next(mn_text_in *in, mn_text_piece *out, mn_err *err);

void mn_text_done(mn_text_in *in);

#endif
