/* SPDX-License-Identifier: Apache-2.0
 *
 * fetch.c - one request, its redirects, and what may go wrong.
 *
 * Redirects are followed by hand, so that each hop passes the same rule as the first URL.  A resumed
 * request carries If-Range with the version it began with: if that is gone, the server sends the whole
 * new file and the caller starts over, instead of gluing two files together.
 */
#include "cli/fetch.h"

#include <curl/curl.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "cli/engine.h"
#include "cli/opt.h"
#include "cli/source.h"

enum { MAX_HOPS = 10, CONNECT_S = 20, STALL_S = 30 };

typedef struct request {
    cli_fetch *f;
    CURL *curl;
    uint64_t from, to;                      // to 0 = the end
    uint64_t at;                            // of the next byte
    uint64_t range_at, range_total, length; // what the headers of this response say
    bool has_range, checked, disk;
    char etag[256], date[64], linked[80];
} request;

static bool header_is(const char *line, size_t n, const char *name, const char **value, size_t *len)
{
    const size_t k = strlen(name);
    if (n <= k || line[k] != ':' || strncasecmp(line, name, k) != 0) return false;
    const char *p = line + k + 1, *end = line + n;
    while (p < end && (*p == ' ' || *p == '\t')) p++;
    while (end > p && (end[-1] == '\r' || end[-1] == '\n' || end[-1] == ' ')) end--;
    *value = p;
    *len = (size_t)(end - p);
    return true;
}

static void keep(char *out, size_t cap, const char *value, size_t len)
{
    if (len >= cap) len = 0; // too long to be of use
    memcpy(out, value, len);
    out[len] = 0;
}

static size_t on_header(char *line, size_t size, size_t count, void *user)
{
    request *r = user;
    const size_t n = size * count;
    const char *v;
    size_t len;
    char text[128];
    if (n > 5 && memcmp(line, "HTTP/", 5) == 0) { // a new response begins
        r->has_range = false;
        r->range_at = r->range_total = r->length = 0;
        r->etag[0] = r->date[0] = 0;
    } else if (header_is(line, n, "etag", &v, &len)) {
        if (len > 2 && v[0] == '"')
            keep(r->etag, sizeof r->etag, v, len); // weak ones cannot be resumed on
    } else if (header_is(line, n, "last-modified", &v, &len)) {
        keep(r->date, sizeof r->date, v, len);
    } else if (header_is(line, n, "x-linked-etag", &v, &len)) {
        keep(r->linked, sizeof r->linked, v, len);
    } else if (header_is(line, n, "content-length", &v, &len)) {
        keep(text, sizeof text, v, len);
        r->length = strtoull(text, NULL, 10);
    } else if (header_is(line, n, "content-range", &v, &len)) {
        keep(text, sizeof text, v, len);
        r->has_range = sscanf(text, "bytes %" SCNu64 "-%*u/%" SCNu64, &r->range_at,
                              &r->range_total) == 2;
        if (!r->has_range) sscanf(text, "bytes */%" SCNu64, &r->range_total);
    }
    return n;
}

/* Decide, before its first byte is kept, whether this response is what was asked for. */
static bool accept_body(request *r, long status)
{
    cli_fetch *f = r->f;
    if (status == 206) {
        if (!r->has_range || r->range_at != r->from) return false;
        if (f->total && r->range_total != f->total) return false;
        f->total = r->range_total;
    } else {
        if (r->from) return false; // the whole file, but only the rest was wanted
        f->total = r->length;
    }
    const char *tag = r->etag[0] ? r->etag : r->date;
    snprintf(f->tag, sizeof f->tag, "%s", tag);
    if (f->bar && f->bar->total != f->total) f->bar->total = f->total;
    return true;
}

static size_t on_body(char *p, size_t size, size_t count, void *user)
{
    request *r = user;
    size_t n = size * count, done = 0;
    long status = 0;
    curl_easy_getinfo(r->curl, CURLINFO_RESPONSE_CODE, &status);
    if (status != 200 && status != 206) return n; // the page of an error or a redirect
    if (!r->checked) {
        if (!accept_body(r, status)) return 0;
        r->checked = true;
    }
    if (r->to && n > r->to - r->at) return 0; // more than was asked for
    while (done < n) {
        const ssize_t k = pwrite(r->f->fd, p + done, n - done, (off_t)(r->at + done));
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0) {
            r->disk = true;
            return 0;
        }
        done += (size_t)k;
    }
    r->at += n;
    if (r->f->bar) cli_bar_move(r->f->bar, r->at);
    return n;
}

static int on_progress(void *user, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
    (void)user, (void)a, (void)b, (void)c, (void)d;
    return cli_interrupted();
}

static cli_fetched fail(cli_fetch *f, int code, const char *what, const char *why)
{
    f->code = code;
    snprintf(f->why, sizeof f->why, "%s: %s", what, why);
    return CLI_FETCH_FAILED;
}

static cli_fetched judge_status(request *r, long status, const char *url)
{
    cli_fetch *f = r->f;
    char text[64];
    if (status == 416 && r->range_total) {
        f->total = r->range_total;
        return r->from == f->total && !r->to ? CLI_FETCHED : CLI_FETCH_CHANGED;
    }
    snprintf(text, sizeof text, "the server answers %ld%s", status,
             status == 404                    ? " (no such file)"
             : status == 401 || status == 403 ? " (not allowed)"
             : status == 429                  ? " (too many requests)"
                                              : "");
    fail(f,
         status == 429   ? CLI_TRY_LATER
         : status >= 500 ? CLI_UNAVAILABLE
                         : CLI_CANNOT_OPEN,
         url, text);
    return status >= 500 ? CLI_FETCH_AGAIN : CLI_FETCH_FAILED;
}

static cli_fetched judge(request *r, CURLcode rc, const char *detail, const char *url)
{
    cli_fetch *f = r->f;
    const char *text = *detail ? detail : curl_easy_strerror(rc);
    long status = 0;
    curl_easy_getinfo(r->curl, CURLINFO_RESPONSE_CODE, &status);
    if (r->disk) return fail(f, CLI_IO, "cannot write", strerror(errno));
    switch (rc) {
    case CURLE_OK:
        if (status != 200 && status != 206) return judge_status(r, status, url);
        if (!r->checked && !accept_body(r, status)) return CLI_FETCH_CHANGED; // an empty body
        if (r->to ? r->at != r->to : f->total && r->at != f->total) break;
        return CLI_FETCHED;
    case CURLE_ABORTED_BY_CALLBACK: return fail(f, CLI_INTERRUPTED, url, "interrupted");
    case CURLE_WRITE_ERROR:
        snprintf(f->why, sizeof f->why, "%s: the server has another file now", url);
        return CLI_FETCH_CHANGED;
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_HTTP2_STREAM: break;
    case CURLE_COULDNT_CONNECT:
        if (r->from) break; // it was there a moment ago
        return fail(f, CLI_UNAVAILABLE, url, text);
    default: return fail(f, CLI_UNAVAILABLE, url, text);
    }
    fail(f, CLI_UNAVAILABLE, url, text);
    return CLI_FETCH_AGAIN;
}

static void prepare(request *r, char *detail, struct curl_slist **headers)
{
    CURL *c = r->curl;
    curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_S);
    curl_easy_setopt(c, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(c, CURLOPT_LOW_SPEED_TIME, (long)STALL_S);
    curl_easy_setopt(c, CURLOPT_ERRORBUFFER, detail);
    curl_easy_setopt(c, CURLOPT_USERAGENT, "minnow");
    curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(c, CURLOPT_HEADERDATA, r);
    curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(c, CURLOPT_WRITEDATA, r);
    curl_easy_setopt(c, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(c, CURLOPT_XFERINFOFUNCTION, on_progress);
    if (r->from || r->to) {
        char range[64];
        if (r->to)
            snprintf(range, sizeof range, "%" PRIu64 "-%" PRIu64, r->from, r->to - 1);
        else
            snprintf(range, sizeof range, "%" PRIu64 "-", r->from);
        curl_easy_setopt(c, CURLOPT_RANGE, range);
        if (r->f->tag[0]) {
            char line[320];
            snprintf(line, sizeof line, "If-Range: %s", r->f->tag);
            *headers = curl_slist_append(*headers, line);
            curl_easy_setopt(c, CURLOPT_HTTPHEADER, *headers);
        }
    }
}

static cli_fetched perform(request *r)
{
    cli_fetch *f = r->f;
    char detail[CURL_ERROR_SIZE] = "";
    struct curl_slist *headers = NULL;
    cli_fetched result = CLI_FETCH_FAILED;
    char *url = cli_copy(f->url, strlen(f->url));
    prepare(r, detail, &headers);
    for (int hop = 0;; hop++) {
        bool loopback;
        const char *why = cli_url_refused(url, f->loopback, &loopback);
        if (!why && hop == MAX_HOPS) why = "too many redirects";
        if (why) {
            result = fail(f, CLI_UNAVAILABLE, url, why);
            break;
        }
        curl_easy_setopt(r->curl, CURLOPT_URL, url);
        const CURLcode rc = curl_easy_perform(r->curl);
        char *next = NULL;
        if (rc == CURLE_OK) curl_easy_getinfo(r->curl, CURLINFO_REDIRECT_URL, &next);
        if (!next) {
            result = judge(r, rc, detail, url);
            break;
        }
        next = cli_copy(next, strlen(next)); // curl's own goes with the next request
        free(url);
        url = next;
    }
    free(url);
    curl_slist_free_all(headers);
    return result;
}

/* The hub states the hash of a large file as its ETag: exactly 64 hex digits, maybe in quotes. */
static void take_hash(request *r)
{
    const char *p = r->linked;
    if (*p == '"') p++;
    if (strspn(p, "0123456789abcdef") == 64 && (p[64] == 0 || (p[64] == '"' && p[65] == 0)))
        snprintf(r->f->sha256, sizeof r->f->sha256, "%.64s", p);
}

static cli_fetched fetch(cli_fetch *f, request *r)
{
    f->why[0] = 0;
    r->f = f;
    r->curl = curl_easy_init();
    if (!r->curl) return fail(f, CLI_INTERNAL, "libcurl", "cannot start");
    const cli_fetched result = perform(r);
    take_hash(r);
    curl_easy_cleanup(r->curl);
    return result;
}

cli_fetched cli_fetch_rest(cli_fetch *f)
{
    request r = { .from = f->at, .at = f->at };
    const cli_fetched result = fetch(f, &r);
    f->at = r.at;
    return result;
}

cli_fetched cli_fetch_range(cli_fetch *f, uint64_t from, uint64_t to)
{
    request r = { .from = from, .to = to, .at = from };
    return fetch(f, &r);
}
