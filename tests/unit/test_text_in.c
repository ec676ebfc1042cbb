/* SPDX-License-Identifier: Apache-2.0
 *
 * test_text_in.c - documents come out whole and in order, from plain and packed files and from folders.
 */
#include "data/text_in.h"

#include <sys/stat.h>

#include "tmpdir.h"

enum { DOCS = 64 };

typedef struct reading {
    mn_mem   mem;
    mn_err   err;
    char    *all;              // texts of all pieces, one after another
    size_t   n;
    size_t   piece[DOCS], pieces;
    uint64_t documents, skipped, done, total;
} reading;

static mnw_status read_all(reading *r, const char *path)
{
    mn_text_in    in = { 0 };
    mn_text_piece t = { 0 };
    *r = (reading){ 0 };
    mn_mem_init(&r->mem, NULL, NULL);
    mnw_status st = mn_text_open(&in, &r->mem, path, &r->err);
    while (st == MNW_OK && (st = mn_text_next(&in, &t, &r->err)) == MNW_OK && t.text.p) {
        r->all = realloc(r->all, r->n + t.text.n + 1);
        memcpy(r->all + r->n, t.text.p, t.text.n);
        r->n += t.text.n;
        r->all[r->n] = '\0';
        if (r->pieces < DOCS) r->piece[r->pieces] = t.text.n;
        r->pieces++;
        EQ(t.document, r->documents);
        r->documents += !t.more;
    }
    r->skipped = in.skipped;
    r->done = in.done;
    r->total = in.total;
    mn_text_done(&in);
    EQ(atomic_load(&r->mem.live), 0);
    return st;
}

static void put(const char *name, const char *text)
{
    tmp_write(tmp_path(name), text, strlen(text));
}

static void expect(const char *name, const char *all, uint64_t documents)
{
    reading r;
    OK(read_all(&r, tmp_path(name)));
    EQ_STR(r.all, all);
    EQ(r.documents, documents);
    EQ(r.done, r.total);
    free(r.all);
}

static void refuse(const char *name, mnw_status st, const char *why)
{
    reading r;
    EQ(read_all(&r, tmp_path(name)), st);
    HAS(r.err.text, why);
    HAS(r.err.text, name);
    free(r.all);
}

TEST(a_plain_file_is_one_document)
{
    put("a.txt", "one\n\ntwo {\"text\": \"no\"}\n");
    expect("a.txt", "one\n\ntwo {\"text\": \"no\"}\n", 1);
}

TEST(a_line_of_json_is_a_document)
{
    put("a.jsonl", "{\"text\": \"one \", \"source\": \"x\"}\r\n\n"
                   "{\"n\": [1, {}], \"text\":\"t\\u4e2d\\n\"}\n  \n{\"text\":\"\"}");
    expect("a.jsonl", "one t\xE4\xB8\xAD\n", 3);
}

TEST(what_is_no_json_or_has_no_text_names_its_line)
{
    put("a.jsonl", "{\"text\": \"one\"}\n{\"text\": 1}\n");
    refuse("a.jsonl", MNW_E_FORMAT, "line 2");
    put("a.jsonl", "\n{\"prompt\": \"one\"}\n");
    refuse("a.jsonl", MNW_E_FORMAT, "line 2: the object has no \"text\"");
    put("a.jsonl", "{\"text\": \"one\"} {}\n");
    refuse("a.jsonl", MNW_E_FORMAT, "line 1");
    put("a.jsonl", "plain\n");
    refuse("a.jsonl", MNW_E_FORMAT, "line 1");
    refuse("absent.txt", MNW_E_NOENT, "absent.txt");
    put("a.txt", "");
    refuse("a.txt", MNW_E_FORMAT, "empty");
}

TEST(a_file_with_nul_bytes_is_refused_and_in_a_folder_left_out)
{
    tmp_write(tmp_path("b.bin"), "text\0more", 9);
    refuse("b.bin", MNW_E_FORMAT, "NUL");
    mkdir(tmp_path("folder"), 0777);
    mkdir(tmp_path("folder/b"), 0777);
    put("folder/b/1.txt", "second ");
    put("folder/a.h", "first ");
    put("folder/c.jsonl", "{\"text\":\"third\"}\n{\"text\":\" fourth\"}");
    put("folder/.hidden", "hidden");
    put("folder/empty", "");
    tmp_write(tmp_path("folder/x.o"), "\x7f" "ELF\0", 5);
    reading r;
    OK(read_all(&r, tmp_path("folder")));
    EQ_STR(r.all, "first second third fourth");
    EQ(r.documents, 4);
    EQ(r.skipped, 1);
    EQ(r.done, r.total);
    free(r.all);
}

/* Lines of nine bytes, each tenth one indented. */
static char *lines(size_t n)
{
    char *text = malloc(9 * n + 1);
    for (size_t i = 0; i < n; i++) snprintf(text + 9 * i, 10, "%s%06zu\n", i % 10 ? "ln" : "  ", i % 1000000);
    return text;
}

TEST(a_long_document_is_cut_before_lines_that_begin_with_no_blank)
{
    const size_t n = 3 * MN_TEXT_PIECE / 9;
    char        *text = lines(n);
    put("long.txt", text);
    reading r;
    OK(read_all(&r, tmp_path("long.txt")));
    EQ_STR(r.all, text);
    EQ(r.documents, 1);
    EQ(r.pieces, 4);
    for (size_t i = 0, at = 0; i + 1 < r.pieces; i++) {
        at += r.piece[i];
        YES(r.piece[i] <= MN_TEXT_PIECE && r.piece[i] > MN_TEXT_PIECE - 20);
        EQ(text[at - 1], '\n');
        NE(text[at], ' ');
    }
    free(text);
    free(r.all);
}

TEST(a_document_of_exactly_one_piece_is_not_cut_and_one_more_byte_is)
{
    char *text = calloc(1, MN_TEXT_PIECE + 2);
    memset(text, 'x', MN_TEXT_PIECE);
    for (size_t more = 0; more < 2; more++) {
        text[MN_TEXT_PIECE - 1 + more] = 'y';
        put("x.txt", text);
        reading r;
        OK(read_all(&r, tmp_path("x.txt")));
        EQ(r.pieces, 1 + more);
        EQ_STR(r.all, text);
        free(r.all);
    }
    free(text);
}

TEST(without_lines_the_cut_is_between_characters)
{
    char *text = calloc(1, 3 * 40000 + 2);
    text[0] = 'x';
    for (size_t i = 0; i < 40000; i++) memcpy(text + 1 + 3 * i, "\xE4\xB8\xAD", 3);
    put("zh.txt", text);
    reading r;
    OK(read_all(&r, tmp_path("zh.txt")));
    EQ_STR(r.all, text);
    EQ(r.pieces, 2);
    EQ(r.piece[0] % 3, 1);
    free(text);
    free(r.all);
}

TEST(a_line_longer_than_the_buffer_is_read_whole)
{
    const size_t n = 1 << 20;
    reading      r;
    FILE        *f = fopen(tmp_path("big.jsonl"), "wb");
    fputs("{\"text\": \"\\t", f);
    for (size_t i = 0; i < n; i++) fputc('a' + (int)(i % 26), f);
    fputs("\"}\n{\"text\": \"end\"}\n", f);
    fclose(f);
    OK(read_all(&r, tmp_path("big.jsonl")));
    EQ(r.documents, 2);
    EQ(r.n, 1 + n + 3);
    EQ(r.all[0], '\t');
    EQ_STR(r.all + r.n - 4, "vend");   // letter 2^20 - 1
    free(r.all);
}

TEST(packed_files_and_archives_are_opened)
{
    char command[1200];
    mkdir(tmp_path("in"), 0777);
    put("in/1.txt", "one ");
    put("in/2.jsonl", "{\"text\":\"two \"}\n{\"text\":\"three\"}\n");
    tmp_write(tmp_path("in/3.bin"), "\0\0", 2);
    snprintf(command, sizeof command, "cd '%s' && gzip -c in/2.jsonl > p.jsonl.gz && tar -cf t.tar in/1.txt in/2.jsonl "
             "in/3.bin 2>/dev/null", tmp_dir);
    if (system(command) != 0) SKIP("no gzip or tar");
    reading          r;
    const mnw_status st = read_all(&r, tmp_path("p.jsonl.gz"));
    if (st == MNW_E_UNSUPPORTED) {
        HAS(r.err.text, "packed with gzip");
        SKIP("this build has no libarchive");
    }
    EQ_STR(r.all, "two three");
    free(r.all);
    OK(read_all(&r, tmp_path("t.tar")));
    EQ_STR(r.all, "one two three");
    EQ(r.documents, 3);
    EQ(r.skipped, 1);
    free(r.all);

    size_t   n = 0;
    uint8_t *p = tmp_read(tmp_path("p.jsonl.gz"), &n);
    tmp_write(tmp_path("cut.jsonl.gz"), p, n / 2);
    free(p);
    refuse("cut.jsonl.gz", MNW_E_FORMAT, "cut.jsonl.gz");
}

static int begin(void **state)
{
    (void)state;
    tmp_open();
    return 0;
}

static int end(void **state)
{
    (void)state;
    char command[600];
    snprintf(command, sizeof command, "rm -rf '%s'", tmp_dir);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(a_plain_file_is_one_document),
        T(a_line_of_json_is_a_document),
        T(what_is_no_json_or_has_no_text_names_its_line),
        T(a_file_with_nul_bytes_is_refused_and_in_a_folder_left_out),
        T(a_long_document_is_cut_before_lines_that_begin_with_no_blank),
        T(a_document_of_exactly_one_piece_is_not_cut_and_one_more_byte_is),
        T(without_lines_the_cut_is_between_characters),
        T(a_line_longer_than_the_buffer_is_read_whole),
        T(packed_files_and_archives_are_opened),
    };
    return cmocka_run_group_tests_name(__FILE__, tests, begin, end);
}
