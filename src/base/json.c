/* SPDX-License-Identifier: Apache-2.0
 *
 * json.c - a pull reader for JSON: a state of one bit per level, and one tight loop over strings.
 *
 * Where the reader stands is (depth, want_comma, want_value):
 *     want_value    a key was read, its value is next; also true before the document's only value
 *     want_comma    a value of this level is complete: a comma or the closing bracket is next
 *     neither       just inside a bracket: the first element or the closing bracket is next
 */
#include "base/json.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/utf8.h"

/* What a byte means inside a string. */
enum { PLAIN, QUOTE, ESCAPE, CONTROL, HIGH };

static const uint8_t IN_STRING[256] = {
    CONTROL, CONTROL, CONTROL, CONTROL, CONTROL, CONTROL, CONTROL, CONTROL,
    CONTROL, CONTROL, CONTROL, CONTROL, CONTROL, CONTROL, CONTROL, CONTROL,
    CONTROL, CONTROL, CONTROL, CONTROL, CONTROL, CONTROL, CONTROL, CONTROL,
    CONTROL, CONTROL, CONTROL, CONTROL, CONTROL, CONTROL, CONTROL, CONTROL,
    ['"'] = QUOTE,
    ['\\'] = ESCAPE,
#define H8(x) [x] = HIGH, HIGH, HIGH, HIGH, HIGH, HIGH, HIGH, HIGH
    H8(0x80), H8(0x88), H8(0x90), H8(0x98), H8(0xA0), H8(0xA8), H8(0xB0), H8(0xB8),
    H8(0xC0), H8(0xC8), H8(0xD0), H8(0xD8), H8(0xE0), H8(0xE8), H8(0xF0), H8(0xF8),
#undef H8
};

static const char *const EXPECTED[] = {
    [MN_JSON_ERROR] = "expected a fault",
    [MN_JSON_OBJECT] = "expected an object",
    [MN_JSON_OBJECT_END] = "expected the end of the object",
    [MN_JSON_ARRAY] = "expected an array",
    [MN_JSON_ARRAY_END] = "expected the end of the array",
    [MN_JSON_KEY] = "expected a key",
    [MN_JSON_STRING] = "expected a string",
    [MN_JSON_NUMBER] = "expected a number",
    [MN_JSON_TRUE] = "expected true",
    [MN_JSON_FALSE] = "expected false",
    [MN_JSON_NULL] = "expected null",
    [MN_JSON_END] = "expected the end of the text",
};

void mn_json_init(mn_json *j, mn_bytes bytes)
{
    const char *p = bytes.n ? (const char *)bytes.p : "";
    *j = (mn_json){ .start = p, .at = p, .end = p + bytes.n, .want_value = true };
}

static mn_json_event fail(mn_json *j, const char *fault)
{
    if (!j->fault) j->fault = fault;
    j->event = MN_JSON_ERROR;
    return MN_JSON_ERROR;
}

static void skip_space(mn_json *j)
{
    const char *p = j->at;
    while (p < j->end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t')) p++;
    j->at = p;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

static bool hex4(const char *p, const char *end, uint32_t *out)
{
    if (end - p < 4) return false;
    *out = 0;
    for (int i = 0; i < 4; i++) {
        const int d = hex_digit(p[i]);
        if (d < 0) return false;
        *out = *out << 4 | (uint32_t)d;
    }
    return true;
}

/* Bytes of the valid sequence that starts with a high byte at p, 0 if it is none.  Two-byte letters
 * are most of what byte-level vocabularies have, so they are decided here. */
static size_t high(const char *p, const char *end)
{
    const uint8_t a = (uint8_t)p[0];
    if (a >= 0xC2 && a < 0xE0 && end - p >= 2 && ((uint8_t)p[1] & 0xC0) == 0x80) return 2;
    uint32_t     cp;
    bool         valid;
    const size_t n = mn_utf8_read(p, (size_t)(end - p), &cp, &valid);
    return valid ? n : 0;
}

/* j->at is behind the opening quote; leaves it behind the closing one and the text in raw. */
static bool scan_string(mn_json *j)
{
    const char *p = j->at, *const end = j->end;
    j->escaped = false;
    for (;;) {
        while (p < end && IN_STRING[(uint8_t)*p] == PLAIN) p++;
        if (p == end) {
            j->at = p;
            return fail(j, "the string does not end"), false;
        }
        uint32_t unit;
        size_t   n;
        switch (IN_STRING[(uint8_t)*p]) {
        case QUOTE:
            j->raw = (mn_str){ j->at, (size_t)(p - j->at) };
            j->at = p + 1;
            return true;
        case CONTROL: j->at = p; return fail(j, "a control character inside a string"), false;
        case HIGH:
            n = high(p, end);
            p += n;
            if (n > 0) break;
            j->at = p;
            return fail(j, "invalid UTF-8 inside a string"), false;
        default:   // ESCAPE
            j->escaped = true;
            if (end - p >= 2 && p[1] && strchr("\"\\/bfnrt", p[1])) {
                p += 2;
            } else if (end - p >= 2 && p[1] == 'u' && hex4(p + 2, end, &unit)) {
                p += 6;
            } else {
                j->at = p;
                return fail(j, "an unknown escape inside a string"), false;
            }
        }
    }
}

static bool digits(const char **p, const char *end)
{
    const char *first = *p;
    while (*p < end && **p >= '0' && **p <= '9') ++*p;
    return *p > first;
}

static bool scan_number(mn_json *j)
{
    const char *p = j->at, *const end = j->end;
    if (*p == '-') p++;
    bool ok;
    if (p < end && *p == '0') {
        p++;
        ok = !(p < end && *p >= '0' && *p <= '9');   // no leading zeros
    } else {
        ok = digits(&p, end);
    }
    if (ok && p < end && *p == '.') {
        p++;
        ok = digits(&p, end);
    }
    if (ok && p < end && (*p == 'e' || *p == 'E')) {
        p++;
        if (p < end && (*p == '+' || *p == '-')) p++;
        ok = digits(&p, end);
    }
    j->raw = (mn_str){ j->at, (size_t)(p - j->at) };
    j->at = p;
    if (!ok) fail(j, "a malformed number");
    return ok;
}

static mn_json_event word(mn_json *j, const char *text, mn_json_event event)
{
    const size_t n = strlen(text);
    if ((size_t)(j->end - j->at) < n || memcmp(j->at, text, n) != 0) {
        return fail(j, "an unknown word");
    }
    j->at += n;
    j->event = event;
    return event;
}

static mn_json_event open_level(mn_json *j, bool object)
{
    if (j->depth == MN_JSON_DEPTH) return fail(j, "nested deeper than 64 levels");
    const uint64_t bit = (uint64_t)1 << j->depth++;
    j->in_object = object ? j->in_object | bit : j->in_object & ~bit;
    j->want_comma = false;
    j->at++;
    j->event = object ? MN_JSON_OBJECT : MN_JSON_ARRAY;
    return j->event;
}

static mn_json_event value(mn_json *j)
{
    if (j->at == j->end) return fail(j, "the text ends where a value should be");
    j->want_value = false;
    j->want_comma = true;
    switch (*j->at) {
    case '{': return open_level(j, true);
    case '[': return open_level(j, false);
    case '"':
        j->at++;
        if (scan_string(j)) j->event = MN_JSON_STRING;
        return j->event;
    case 't': return word(j, "true", MN_JSON_TRUE);
    case 'f': return word(j, "false", MN_JSON_FALSE);
    case 'n': return word(j, "null", MN_JSON_NULL);
    case '-': case '0': case '1': case '2': case '3': case '4':
    case '5': case '6': case '7': case '8': case '9':
        if (scan_number(j)) j->event = MN_JSON_NUMBER;
        return j->event;
    default: return fail(j, "not the start of a value");
    }
}

static mn_json_event key(mn_json *j)
{
    if (j->at == j->end || *j->at != '"') return fail(j, "expected a key in quotes");
    j->at++;
    if (!scan_string(j)) return MN_JSON_ERROR;
    skip_space(j);
    if (j->at == j->end || *j->at != ':') return fail(j, "expected ':' after the key");
    j->at++;
    j->want_value = true;
    j->event = MN_JSON_KEY;
    return MN_JSON_KEY;
}

mn_json_event mn_json_next(mn_json *j)
{
    if (j->fault) return MN_JSON_ERROR;
    skip_space(j);
    if (j->want_value) return value(j);
    if (j->depth == 0) {
        if (j->at != j->end) return fail(j, "more text after the value");
        j->event = MN_JSON_END;
        return MN_JSON_END;
    }
    const bool object = j->in_object >> (j->depth - 1) & 1;
    if (j->at < j->end && *j->at == (object ? '}' : ']')) {
        j->at++;
        j->depth--;
        j->want_comma = true;
        j->event = object ? MN_JSON_OBJECT_END : MN_JSON_ARRAY_END;
        return j->event;
    }
    if (j->want_comma) {
        if (j->at == j->end || *j->at != ',') {
            return fail(j, object ? "expected ',' or '}'" : "expected ',' or ']'");
        }
        j->at++;
        skip_space(j);
    }
    return object ? key(j) : value(j);
}

mnw_status mn_json_expect(mn_json *j, mn_json_event want, mn_err *err)
{
    if (mn_json_next(j) == want) return MNW_OK;
    fail(j, EXPECTED[want]);
    return mn_json_fail(j, "JSON", err);
}

bool mn_json_skip(mn_json *j)
{
    if (j->event == MN_JSON_KEY) mn_json_next(j);
    if (j->event == MN_JSON_OBJECT || j->event == MN_JSON_ARRAY) {
        for (const unsigned outside = j->depth - 1; !j->fault && j->depth != outside;) {
            mn_json_next(j);
        }
    }
    return !j->fault;
}

/* One character of a valid raw string, as UTF-8: a byte as it is, or an escape resolved. */
static size_t unescape(const char **at, const char *end, char out[MN_UTF8_MAX])
{
    const char *p = *at;
    if (*p != '\\') {
        out[0] = *p;
        *at = p + 1;
        return 1;
    }
    if (p[1] != 'u') {
        static const char FROM[] = "bfnrt", TO[] = "\b\f\n\r\t";
        const char       *f = strchr(FROM, p[1]);
        out[0] = f ? TO[f - FROM] : p[1];
        *at = p + 2;
        return 1;
    }
    uint32_t hi = 0, lo;
    hex4(p + 2, end, &hi);
    p += 6;
    if (hi >= 0xD800 && hi < 0xDC00 && end - p >= 6 && p[0] == '\\' && p[1] == 'u' &&
        hex4(p + 2, end, &lo) && lo >= 0xDC00 && lo < 0xE000) {
        hi = 0x10000 + ((hi - 0xD800) << 10) + (lo - 0xDC00);
        p += 6;
    }
    *at = p;
    return mn_utf8_put(hi, out);   // a lone surrogate becomes U+FFFD there
}

size_t mn_json_text(const mn_json *j, char *buf, size_t cap)
{
    if (!j->escaped) {
        const size_t n = j->raw.n < cap ? j->raw.n : cap;
        if (n) memcpy(buf, j->raw.p, n);
        return n;
    }
    size_t len = 0;
    for (const char *p = j->raw.p, *end = p + j->raw.n; p < end;) {
        char         c[MN_UTF8_MAX];
        const size_t n = unescape(&p, end, c);
        if (n > cap - len) break;
        memcpy(buf + len, c, n);
        len += n;
    }
    return len;
}

bool mn_json_key_is(const mn_json *j, const char *name)
{
    if (!j->escaped) return mn_str_is(j->raw, name);
    for (const char *p = j->raw.p, *end = p + j->raw.n; p < end;) {
        char         c[MN_UTF8_MAX];
        const size_t n = unescape(&p, end, c);
        if (n != 1 || c[0] != *name || !*name) return false;
        name++;
    }
    return *name == '\0';
}

bool mn_json_i64(const mn_json *j, int64_t *out)
{
    const char *p = j->raw.p, *const end = p + j->raw.n;
    const bool  minus = p < end && *p == '-';
    if (minus) p++;
    if (p == end) return false;
    const uint64_t most = (uint64_t)INT64_MAX + minus;
    uint64_t       v = 0;
    for (; p < end; p++) {
        if (*p < '0' || *p > '9') return false;
        const uint64_t d = (uint64_t)(*p - '0');
        if (v > (most - d) / 10) return false;
        v = v * 10 + d;
    }
    *out = minus ? (int64_t)(0 - v) : (int64_t)v;
    return true;
}

/* strtod() obeys the locale's decimal point, so it gets a number without one: all digits, then a
 * decimal exponent.  768 digits decide any double; what lies beyond only has to be not nothing. */
double mn_json_f64(const mn_json *j)
{
    enum { DIGITS = 800 };
    char        text[DIGITS + 32];
    size_t      n = 0, kept = 0;
    int64_t     exponent = 0;
    bool        fraction = false, rest = false;
    const char *p = j->raw.p, *const end = p + j->raw.n;
    if (p < end && *p == '-') text[n++] = *p++;
    for (; p < end && *p != 'e' && *p != 'E'; p++) {
        if (*p == '.') {
            fraction = true;
            continue;
        }
        if (fraction) exponent--;
        if (kept < DIGITS) {
            if (kept > 0 || *p != '0') text[n + kept++] = *p;
        } else {
            rest |= *p != '0';
            exponent++;
        }
    }
    n += kept;
    if (kept == 0) text[n++] = '0';
    if (rest) {
        text[n++] = '1';
        exponent--;
    }
    if (p < end) {
        const bool minus = *++p == '-';
        int64_t    e = 0;
        for (; p < end; p++) {
            if (*p >= '0' && *p <= '9' && e < INT32_MAX) e = e * 10 + (*p - '0');
        }
        exponent += minus ? -e : e;
    }
    if (kept == 0) exponent = 0;
    text[n++] = 'e';
    if (exponent < 0) text[n++] = '-';
    uint64_t e = (uint64_t)(exponent < 0 ? -exponent : exponent);
    if (e > 99999) e = 99999;
    for (uint64_t unit = 10000; unit; unit /= 10) text[n++] = (char)('0' + e / unit % 10);
    text[n] = '\0';
    return strtod(text, NULL);
}

mnw_status mn_json_fail(const mn_json *j, const char *what, mn_err *err)
{
    uint64_t line = 1, column = 1;
    for (const char *p = j->start; p < j->at; p++) {
        if (*p == '\n') {
            line++;
            column = 1;
        } else {
            column += ((uint8_t)*p & 0xC0) != 0x80;   // characters, not bytes
        }
    }
    MN_FAIL(err, MNW_E_FORMAT, "%s: line %" PRIu64 ", column %" PRIu64 ": %s", what, line, column,
            j->fault ? j->fault : "this is not what belongs here");
}
