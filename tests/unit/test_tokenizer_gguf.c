/* SPDX-License-Identifier: Apache-2.0
 *
 * test_tokenizer_gguf.c - tokenizers from GGUF metadata, good and bad.
 */
#include "gguf_bytes.h"
#include "tok.h"

#define KEY(name) "tokenizer.ggml." name

/* What a file says; NULL and 0 leave a key out. */
typedef struct spec {
    const char  *model, *pre;
    const char *const *token;
    uint32_t     n_tokens;
    const int   *kind;              // token_type, as int32 unless kind_type says otherwise
    uint32_t     n_kinds, kind_type;
    const float *score;
    uint32_t     score_type;        // 0 = f32
    const char *const *merge;
    uint32_t     n_merges;
    int          bos, eos, unk;     // id + 1, 0 = none
    int          add_bos, add_eos, add_prefix;   // 1 = false, 2 = true
    bool         charsmap;
} spec;

static void add_id(blob *b, const char *key, int id_1, int *items)
{
    if (!id_1) return;
    blob_key(b, key, MN_META_U32);
    blob_int(b, (uint32_t)(id_1 - 1), 4);
    ++*items;
}

static void add_flag(blob *b, const char *key, int flag, int *items)
{
    if (!flag) return;
    blob_key(b, key, MN_META_BOOL);
    blob_int(b, flag == 2, 1);
    ++*items;
}

static void add_texts(blob *b, const char *key, const char *const *text, uint32_t n, int *items)
{
    if (!text) return;
    blob_array(b, key, MN_META_STR, n);
    for (uint32_t i = 0; i < n; i++) blob_text(b, text[i]);
    ++*items;
}

static mnw_status open_spec(tok_bench *t, const spec *s)
{
    blob body = { 0 }, file = { 0 };
    int  items = 0;
    if (s->model) {
        blob_key(&body, KEY("model"), MN_META_STR);
        blob_text(&body, s->model);
        items++;
    }
    if (s->pre) {
        blob_key(&body, KEY("pre"), MN_META_STR);
        blob_text(&body, s->pre);
        items++;
    }
    add_texts(&body, KEY("tokens"), s->token, s->n_tokens, &items);
    add_texts(&body, KEY("merges"), s->merge, s->n_merges, &items);
    if (s->kind) {
        const uint32_t type = s->kind_type ? s->kind_type : MN_META_I32;
        const uint32_t n = s->n_kinds ? s->n_kinds : s->n_tokens;
        blob_array(&body, KEY("token_type"), type, n);
        for (uint32_t i = 0; i < n; i++) blob_int(&body, (uint32_t)s->kind[i], type == MN_META_I8 ? 1 : 4);
        items++;
    }
    if (s->score) {
        const uint32_t type = s->score_type ? s->score_type : MN_META_F32;
        blob_array(&body, KEY("scores"), type, s->n_tokens);
        for (uint32_t i = 0; i < s->n_tokens; i++) {
            if (type == MN_META_F32) blob_add(&body, &s->score[i], 4);
            else blob_int(&body, 1, 1);
        }
        items++;
    }
    if (s->charsmap) {
        blob_array(&body, KEY("precompiled_charsmap"), MN_META_U8, 4);
        blob_int(&body, 0, 4);
        items++;
    }
    add_id(&body, KEY("bos_token_id"), s->bos, &items);
    add_id(&body, KEY("eos_token_id"), s->eos, &items);
    add_id(&body, KEY("unknown_token_id"), s->unk, &items);
    add_flag(&body, KEY("add_bos_token"), s->add_bos, &items);
    add_flag(&body, KEY("add_eos_token"), s->add_eos, &items);
    add_flag(&body, KEY("add_space_prefix"), s->add_prefix, &items);
    blob_start(&file, 3, 0, (uint64_t)items);
    blob_add(&file, body.p, body.n);
    blob_data(&file, 32, 0);
    free(body.p);

    tok_init(t);
    t->file = malloc(file.n);      // of the exact size, so that a sanitizer sees each byte too far
    t->file_bytes = file.n;
    memcpy(t->file, file.p, file.n);
    free(file.p);
    return tok_from_gguf(t);
}

static void refuse(const spec *s, mnw_status want, const char *part, const char *other)
{
    tok_bench        t;
    const mnw_status st = open_spec(&t, s);
    if (st != want) fail_msg("status %d (%s), expected %d", st, t.err.text, want);
    HAS(t.err.text, part);
    HAS(t.err.text, other);
    assert_null(t.tok);
    tok_done(&t);
}

static void accept(tok_bench *t, const spec *s)
{
    const mnw_status st = open_spec(t, s);
    if (st != MNW_OK) fail_msg("refused: %s", t->err.text);
    assert_non_null(t->tok);
}

static const char *const abb[] = { "a", "b", "b", "<eos>" };
static const int         abb_kind[] = { 1, 1, 1, 3 };
static const char *const ab_merge[] = { "a b" };

static spec bpe(void)
{
    return (spec){ .model = "gpt2", .pre = "gpt-2", .token = abb, .n_tokens = 4, .kind = abb_kind,
                   .merge = ab_merge, .eos = 4, .unk = 1 };
}

TEST(of_equal_pieces_the_first_id_wins_with_one_warning)
{
    tok_bench t;
    spec      s = bpe();
    s.n_merges = 0;
    accept(&t, &s);
    EQ(t.warnings, 1);
    EQ(t.last_warning, MNW_WARNING_TOKEN_DUPLICATE);
    tok_expect(t.tok, "b", 1, 0, (int32_t[]){ 1 }, 1);
    tok_done(&t);
}

TEST(bos_to_be_added_without_a_bos_id_is_an_error)
{
    spec s = bpe();
    s.add_bos = 2;
    refuse(&s, MNW_E_FORMAT, "BOS", "no bos id");
    s.add_bos = 1;
    s.add_eos = 2;
    s.eos = 0;
    refuse(&s, MNW_E_FORMAT, "EOS", "no eos id");
}

TEST(special_ids_must_be_in_the_vocabulary)
{
    tok_bench t;
    spec      s = bpe();
    s.eos = 5;
    refuse(&s, MNW_E_FORMAT, "eos id is 4", "4 tokens");
    s.eos = 4;
    accept(&t, &s);
    tok_done(&t);
    s.bos = 0x7FFFFFFF;
    refuse(&s, MNW_E_FORMAT, "bos id", "4 tokens");
}

TEST(arrays_of_another_type_or_length_are_refused_by_name)
{
    static const float score[4] = { 0 };
    spec               s = bpe();
    s.kind_type = MN_META_I8;
    refuse(&s, MNW_E_FORMAT, "token_type", "i32");
    s = bpe();
    s.n_kinds = 3;
    refuse(&s, MNW_E_FORMAT, "token_type: 3 elements", "4 tokens");
    s = (spec){ .model = "llama", .token = abb, .n_tokens = 4, .kind = abb_kind, .score = score,
                .score_type = MN_META_I8 };
    refuse(&s, MNW_E_FORMAT, "scores", "i8");
    s.score = NULL;
    refuse(&s, MNW_E_FORMAT, "scores", "missing");
}

TEST(token_types_are_known_ones)
{
    static const int high[] = { 1, 1, 1, 7 }, byte[] = { 1, 1, 1, 6 };
    spec             s = bpe();
    s.kind = high;
    refuse(&s, MNW_E_FORMAT, "token 3 is of type 7", "0 to 6");
    s.kind = byte;
    refuse(&s, MNW_E_FORMAT, "token 3 is a byte", "<eos>");
}

TEST(an_unknown_pre_tokenizer_is_an_error_that_names_it)
{
    spec s = bpe();
    s.pre = "tomorrow";
    refuse(&s, MNW_E_UNSUPPORTED, "tokenizer.ggml.pre", "tomorrow");
}

TEST(a_missing_pre_tokenizer_is_gpt_2_with_a_warning)
{
    static const char *const token[] = { "a", "b", "ab", "<eos>" };
    tok_bench                t;
    spec                     s = bpe();
    s.token = token;
    s.pre = NULL;
    accept(&t, &s);
    EQ(t.warnings, 1);
    EQ(t.last_warning, MNW_WARNING_PRE_TOKENIZER);
    EQ_STR(mnw_tokenizer_pre(t.tok), "gpt-2");
    tok_done(&t);
}

TEST(an_unknown_model_is_an_error_and_none_is_no_tokenizer)
{
    tok_bench t;
    spec      s = bpe();
    s.model = "bert";
    refuse(&s, MNW_E_UNSUPPORTED, "tokenizer.ggml.model", "bert");
    s.model = NULL;
    OK(open_spec(&t, &s));
    assert_null(t.tok);
    tok_done(&t);
}

TEST(a_merge_whose_result_is_missing_is_left_out_with_a_warning)
{
    static const char *const token[] = { "a", "b", "c", "<eos>" };
    tok_bench                t;
    spec                     s = bpe();
    s.token = token;
    s.n_merges = 1;
    accept(&t, &s);
    EQ(t.last_warning, MNW_WARNING_METADATA);
    tok_expect(t.tok, "ab", 2, 0, (int32_t[]){ 0, 1 }, 2);
    tok_done(&t);
}

TEST(a_merge_never_makes_a_control_token)
{
    static const char *const token[] = { "a", "b", "ab", "<eos>" };
    static const int         kind[] = { 1, 1, 3, 3 };
    tok_bench                t;
    spec                     s = bpe();
    s.token = token;
    s.kind = kind;
    s.n_merges = 1;
    accept(&t, &s);
    tok_expect(t.tok, "ab", 2, 0, (int32_t[]){ 0, 1 }, 2);
    tok_done(&t);
}

TEST(a_piece_may_have_1024_bytes_and_no_more)
{
    char  piece[1026];
    memset(piece, 'a', sizeof piece);
    piece[1025] = '\0';
    const char *const token[] = { "a", piece };
    tok_bench         t;
    spec              s = { .model = "gpt2", .pre = "gpt-2", .token = token, .n_tokens = 2,
                            .merge = ab_merge, .unk = 1 };
    refuse(&s, MNW_E_LIMIT, "token 1 has 1025 bytes", "1024");
    piece[1024] = '\0';
    accept(&t, &s);
    tok_done(&t);
}

TEST(a_tokenizer_needs_tokens)
{
    spec s = bpe();
    s.token = NULL;
    refuse(&s, MNW_E_FORMAT, "tokens", "missing");
    s = bpe();
    s.n_tokens = 0;
    s.kind = NULL;
    refuse(&s, MNW_E_LIMIT, "tokens: 0", "1 to");
}

TEST(bytes_without_a_token_are_left_out_with_a_warning)
{
    static const char *const token[] = { "a", "b", "ab", "<eos>" };
    tok_bench                t;
    spec                     s = bpe();
    s.token = token;
    s.unk = 0;
    accept(&t, &s);
    EQ(t.warnings, 0);
    tok_expect(t.tok, "a!b", 3, 0, (int32_t[]){ 0, 1 }, 2);
    EQ(t.warnings, 1);
    EQ(t.last_warning, MNW_WARNING_TRUNCATED);
    int32_t ids[4];
    size_t  n;
    t.ctx.opts.strict = true;
    EQ(mnw_tokenizer_encode(t.tok, "a!b", 3, 0, ids, 4, &n), MNW_E_STRICT);
    tok_done(&t);
}

/* A SentencePiece vocabulary: control, bytes that matter, characters, words. */
enum { SPM_TOKENS = 3 + 256 + 7 };

static const char *spm_token[SPM_TOKENS];
static int         spm_kind[SPM_TOKENS];
static float       spm_score[SPM_TOKENS];

static spec spm(const char *model)
{
    static char              bytes[256][8];
    static const char *const rest[] = { "▁", "a", "b", "ab", "▁a", "▁ab", "▁▁" };
    static const float       score[] = { -10, -11, -12, -3, -2, -1, -4 };
    static const char *const head[] = { "<unk>", "<s>", "</s>" };
    static const int         head_kind[] = { 2, 3, 3 };
    for (int i = 0; i < 3; i++) {
        spm_token[i] = head[i];
        spm_kind[i] = head_kind[i];
    }
    for (int i = 0; i < 256; i++) {
        snprintf(bytes[i], sizeof bytes[i], "<0x%02X>", (unsigned)i);
        spm_token[3 + i] = bytes[i];
        spm_kind[3 + i] = 6;
    }
    for (int i = 0; i < 7; i++) {
        spm_token[259 + i] = rest[i];
        spm_kind[259 + i] = 1;
        spm_score[259 + i] = score[i];
    }
    return (spec){ .model = model, .token = spm_token, .n_tokens = SPM_TOKENS, .kind = spm_kind,
                   .score = spm_score, .bos = 2, .eos = 3, .unk = 1 };
}

TEST(sentencepiece_puts_a_space_in_front_and_bos_where_asked)
{
    tok_bench t;
    spec      s = spm("llama");
    accept(&t, &s);
    EQ_STR(mnw_tokenizer_kind(t.tok), "spm");
    tok_expect(t.tok, "ab", 2, 0, (int32_t[]){ 264 }, 1);
    tok_expect(t.tok, "ab", 2, MNW_ENCODE_BOS, (int32_t[]){ 1, 264 }, 2);
    tok_expect(t.tok, "", 0, MNW_ENCODE_BOS, (int32_t[]){ 1 }, 1);
    tok_expect(t.tok, "<s>ab", 5, MNW_ENCODE_BOS | MNW_ENCODE_SPECIAL, (int32_t[]){ 1, 264 }, 2);
    tok_expect(t.tok, " ab", 3, 0, (int32_t[]){ 259, 264 }, 2);
    tok_done(&t);
    s.add_prefix = 1;
    s.add_bos = 1;
    accept(&t, &s);
    tok_expect(t.tok, "ab", 2, MNW_ENCODE_BOS, (int32_t[]){ 262 }, 1);
    tok_done(&t);
    s.add_eos = 2;
    accept(&t, &s);
    tok_expect(t.tok, "ab", 2, MNW_ENCODE_BOS, (int32_t[]){ 262, 2 }, 2);
    tok_expect(t.tok, "ab</s>", 6, MNW_ENCODE_BOS | MNW_ENCODE_SPECIAL, (int32_t[]){ 262, 2 }, 2);
    tok_done(&t);
}

TEST(a_character_without_a_piece_becomes_its_bytes)
{
    static const char *const model[] = { "llama", "t5" };
    for (int i = 0; i < 2; i++) {
        tok_bench t;
        spec      s = spm(model[i]);
        s.add_eos = 1;
        accept(&t, &s);
        tok_expect(t.tok, "aé", 3, 0, (int32_t[]){ 263, 3 + 0xC3, 3 + 0xA9 }, 3);
        tok_expect_round_trip(t.tok, "  aé b\n", 8);
        tok_done(&t);
    }
}

TEST(without_all_bytes_it_becomes_the_unknown_token)
{
    tok_bench t;
    spec      s = spm("llama");
    s.kind = spm_kind;
    spm_token[3] = "x";
    spm_kind[3] = 1;
    accept(&t, &s);
    tok_expect(t.tok, "aéé", 5, 0, (int32_t[]){ 263, 0 }, 2);
    tok_done(&t);
}

TEST(unigram_takes_the_most_probable_split)
{
    tok_bench t;
    spec      s = spm("t5");
    accept(&t, &s);
    EQ_STR(mnw_tokenizer_kind(t.tok), "unigram");
    tok_expect(t.tok, "ab", 2, 0, (int32_t[]){ 264 }, 1);
    tok_expect(t.tok, "ab a", 4, MNW_ENCODE_BOS, (int32_t[]){ 264, 263, 2 }, 3);   // t5 ends with EOS
    tok_done(&t);
    s.charsmap = true;
    refuse(&s, MNW_E_UNSUPPORTED, "precompiled_charsmap", "not supported");
}

TEST(scores_are_finite)
{
    spec s = spm("llama");
    spm_score[260] = (float)(1e300 * 1e300);
    refuse(&s, MNW_E_FORMAT, "token 260", "score");
    s = spm("t5");
    spm_score[260] = (float)(1e300 * 1e300 * 0.0);
    refuse(&s, MNW_E_FORMAT, "token 260", "score");
}

TEST(the_first_space_is_left_out_only_at_the_start)
{
    tok_bench     t;
    const int32_t ids[] = { 1, 264, 264 };
    char          text[16];
    size_t        n;
    spec          s = spm("llama");
    accept(&t, &s);
    OK(mnw_tokenizer_decode(t.tok, ids, 3, 0, text, sizeof text, &n));
    EQ(n, 6);
    EQ_MEM(text, " ab ab", 6);
    OK(mnw_tokenizer_decode(t.tok, ids, 3, MNW_DECODE_START, text, sizeof text, &n));
    EQ(n, 5);
    EQ_MEM(text, "ab ab", 5);
    tok_done(&t);
}

/* A user token that ends a turn in published models is a control token, whatever the file says. */
TEST(well_known_ends_are_control_tokens)
{
    static const char *const token[] = { "a", "b", "<|im_end|>", "<tool>" };
    static const int         kind[] = { 1, 1, 4, 4 };
    tok_bench                t;
    spec                     s = bpe();
    s.token = token;
    s.kind = kind;
    s.eos = 0;
    accept(&t, &s);
    YES(mnw_tokenizer_is_end(t.tok, 2));
    YES(mnw_tokenizer_is_special(t.tok, 2));
    NO(mnw_tokenizer_is_special(t.tok, 3));
    tok_expect(t.tok, "a<tool>", 7, 0, (int32_t[]){ 0, 3 }, 2);
    tok_done(&t);
}

TEST(a_piece_that_is_half_a_code_point_is_never_found_in_text)
{
    static const char *const half[] = { "\xC3", "\xE4\xB8" };
    for (int i = 0; i < 2; i++) {
        tok_bench t;
        spec      s = spm(i ? "t5" : "llama");
        s.add_eos = 1;
        spm_token[260] = half[i];           // was "a"
        accept(&t, &s);
        tok_expect(t.tok, "bé", 3, 0, (int32_t[]){ 259, 261, 3 + 0xC3, 3 + 0xA9 }, 4);
        tok_expect(t.tok, "b中", 4, 0, (int32_t[]){ 259, 261, 3 + 0xE4, 3 + 0xB8, 3 + 0xAD }, 5);
        tok_done(&t);
        spm_kind[260] = 4;
        accept(&t, &s);
        tok_expect(t.tok, "bé", 3, 0, (int32_t[]){ 259, 261, 3 + 0xC3, 3 + 0xA9 }, 4);
        tok_done(&t);
    }
}

int main(void)
{
    return RUN(T(of_equal_pieces_the_first_id_wins_with_one_warning),
               T(bos_to_be_added_without_a_bos_id_is_an_error),
               T(special_ids_must_be_in_the_vocabulary),
               T(arrays_of_another_type_or_length_are_refused_by_name),
               T(token_types_are_known_ones), T(an_unknown_pre_tokenizer_is_an_error_that_names_it),
               T(a_missing_pre_tokenizer_is_gpt_2_with_a_warning),
               T(an_unknown_model_is_an_error_and_none_is_no_tokenizer),
               T(a_merge_whose_result_is_missing_is_left_out_with_a_warning),
               T(a_merge_never_makes_a_control_token),
               T(a_piece_may_have_1024_bytes_and_no_more), T(a_tokenizer_needs_tokens),
               T(bytes_without_a_token_are_left_out_with_a_warning),
               T(sentencepiece_puts_a_space_in_front_and_bos_where_asked),
               T(a_character_without_a_piece_becomes_its_bytes),
               T(without_all_bytes_it_becomes_the_unknown_token),
               T(unigram_takes_the_most_probable_split), T(scores_are_finite),
               T(the_first_space_is_left_out_only_at_the_start),
               T(a_piece_that_is_half_a_code_point_is_never_found_in_text),
               T(well_known_ends_are_control_tokens));
}
