/* SPDX-License-Identifier: Apache-2.0
 *
 * SHA-256 against the examples NIST publishes with FIPS 180-4: one block, two, a million 'a'.
 */
#include "test.h"

#include "base/sha256.h"

static const char *hash(const char *p, size_t n, size_t piece)
{
    static char hex[MN_SHA256_HEX];
    uint8_t     digest[MN_SHA256_BYTES];
    mn_sha256   s;
    mn_sha256_init(&s);
    for (size_t i = 0; i < n; i += piece) mn_sha256_add(&s, p + i, n - i < piece ? n - i : piece);
    mn_sha256_final(&s, digest);
    mn_sha256_hex(digest, hex);
    return hex;
}

TEST(published_examples_agree)
{
    static const char TWO[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    EQ_STR(hash("", 0, 1), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EQ_STR(hash("abc", 3, 3), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EQ_STR(hash(TWO, sizeof TWO - 1, 64),
           "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST(a_million_letters_agree_in_any_pieces)
{
    static char text[1000000];
    memset(text, 'a', sizeof text);
    static const size_t PIECES[] = { 1, 63, 64, 65, 1000, sizeof text };
    for (size_t i = 0; i < LEN(PIECES); i++) {
        EQ_STR(hash(text, sizeof text, PIECES[i]),
               "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    }
}

TEST(every_length_around_a_block_is_padded_right)
{
    /* The hash of 0..130 letters 'x', hashed in turn (Python 3.11 hashlib, 2026-12-01). */
    char      text[131];
    uint8_t   digest[MN_SHA256_BYTES];
    char      hex[MN_SHA256_HEX];
    mn_sha256 all, one;
    memset(text, 'x', sizeof text);
    mn_sha256_init(&all);
    for (size_t n = 0; n < sizeof text; n++) {
        mn_sha256_init(&one);
        mn_sha256_add(&one, text, n);
        mn_sha256_final(&one, digest);
        mn_sha256_add(&all, digest, sizeof digest);
    }
    mn_sha256_final(&all, digest);
    mn_sha256_hex(digest, hex);
    EQ_STR(hex, "f5a018ad6f7a21c451c8d98b57699f4aeeb1976b88771c339c7ea60cd09c64ef");
}

int main(void)
{
    return RUN(T(published_examples_agree), T(a_million_letters_agree_in_any_pieces),
               T(every_length_around_a_block_is_padded_right));
}
