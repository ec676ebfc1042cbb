/* SPDX-License-Identifier: Apache-2.0
 *
 * source.c - sources of files and which URLs are allowed.
 */
#include "cli/source.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/opt.h"
#include "cli/say.h"

/* X(prefix, address, path before the repository, path to a revision, its default, environment) */
#define HUBS(X)                                                                                    \
    X("hf:", "https://huggingface.co", "", "resolve", "main", "MINNOW_HF_ENDPOINT")                \
    X("ms:", "https://modelscope.cn", "models/", "resolve", "master", "MINNOW_MS_ENDPOINT")

typedef struct hub {
    const char *prefix, *address, *before, *resolve, *revision, *env;
} hub;

static const hub HUB[] = {
#define X(prefix, address, before, resolve, revision, env)                                         \
    { prefix, address, before, resolve, revision, env },
    HUBS(X)
#undef X
};

enum { MAX_URL = 4096, MAX_NAME = 255 };

/* One part of a path that means nothing but a name. */
static bool plain_part(const char *p, size_t n)
{
    if (n == 0 || n > MAX_NAME || (p[0] == '.' && (n == 1 || (n == 2 && p[1] == '.'))))
        return false;
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)p[i] < 0x20 || p[i] == 0x7F || p[i] == '/' || p[i] == '\\') return false;
    return true;
}

static int from_hub(const hub *h, const char *text, const char *endpoint, cli_source *out)
{
    const char *path = text + strlen(h->prefix), *name = path;
    size_t parts = 0;
    for (const char *p = path;; p++) {
        const size_t n = strcspn(p, "/");
        if (!plain_part(p, n)) break;
        parts++;
        name = p;
        p += n;
        if (!*p) goto parsed;
    }
    parts = 0;
parsed:
    if (parts < 3) {
        cli_error("%s: expected %sorg/repo/file, each part a plain name", text, h->prefix);
        return CLI_MISUSED;
    }
    const char *env = getenv(h->env);
    const char *base = endpoint ? endpoint : env && *env ? env : h->address;
    size_t base_len = strlen(base);
    while (base_len && base[base_len - 1] == '/') base_len--;

    /* org / repo[@revision] / file... */
    const size_t org = strcspn(path, "/");
    const char *repo = path + org + 1;
    const size_t repo_len = strcspn(repo, "/");
    const char *at = memchr(repo, '@', repo_len);
    const size_t bare = at ? (size_t)(at - repo) : repo_len;
    const size_t rev_len = at ? repo_len - bare - 1 : strlen(h->revision);
    const char *rev = at ? at + 1 : h->revision;
    if (!plain_part(repo, bare) || !plain_part(rev, rev_len)) {
        cli_error("%s: expected %sorg/repo@revision/file", text, h->prefix);
        return CLI_MISUSED;
    }
    char url[MAX_URL];
    int n = snprintf(url, sizeof url, "%.*s/%s%.*s/%.*s/%s/%.*s", (int)base_len, base, h->before,
                     (int)org, path, (int)bare, repo, h->resolve, (int)rev_len, rev);
    for (const char *p = repo + repo_len; *p && n > 0 && n < MAX_URL;) { // p is at a '/'
        const size_t len = strcspn(p + 1, "/");
        char *escaped = curl_easy_escape(NULL, p + 1, (int)len);
        n += snprintf(url + n, sizeof url - (size_t)n, "/%s", escaped ? escaped : "");
        curl_free(escaped);
        p += 1 + len;
    }
    if (n <= 0 || n >= MAX_URL) {
        cli_error("%s: too long", text);
        return CLI_MISUSED;
    }
    out->url = cli_copy(url, (size_t)n);
    out->name = cli_copy(name, strlen(name));
    return CLI_DONE;
}

static int from_url(const char *text, cli_source *out)
{
    CURLU *u = curl_url();
    char *path = NULL;
    int rc = CLI_MISUSED;
    if (u && !curl_url_set(u, CURLUPART_URL, text, 0) &&
        !curl_url_get(u, CURLUPART_PATH, &path, 0)) {
        const char *last = strrchr(path, '/');
        int n = 0;
        char *name = last ? curl_easy_unescape(NULL, last + 1, 0, &n) : NULL;
        if (name && plain_part(name, (size_t)n) && strlen(name) == (size_t)n) {
            out->url = cli_copy(text, strlen(text));
            out->name = cli_copy(name, (size_t)n);
            rc = CLI_DONE;
        } else {
            cli_error("%s: the path must end in a plain file name", text);
        }
        curl_free(name);
    } else {
        cli_error("%s: not a URL", text);
    }
    curl_free(path);
    curl_url_cleanup(u);
    return rc;
}

const char *cli_url_refused(const char *url, bool loopback_asked, bool *loopback)
{
    CURLU *u = curl_url();
    char *scheme = NULL, *host = NULL, *user = NULL;
    const char *why = NULL;
    *loopback = false;
    if (!u || curl_url_set(u, CURLUPART_URL, url, CURLU_NON_SUPPORT_SCHEME) ||
        curl_url_get(u, CURLUPART_SCHEME, &scheme, 0)) {
        why = "not a URL";
    } else if (strcmp(scheme, "https") != 0 && strcmp(scheme, "http") != 0) {
        why = "only https is fetched";
    } else if (curl_url_get(u, CURLUPART_HOST, &host, 0)) {
        why = "no host";
    } else if (!curl_url_get(u, CURLUPART_USER, &user, 0)) {
        why = "a name or password in a URL is refused";
    } else {
        *loopback = strcmp(host, "127.0.0.1") == 0 || strcmp(host, "[::1]") == 0 ||
                    strcmp(host, "localhost") == 0;
        if (strcmp(scheme, "http") == 0 && !(*loopback && loopback_asked))
            why = "only https is fetched (http on this machine alone)";
    }
    curl_free(scheme);
    curl_free(host);
    curl_free(user);
    curl_url_cleanup(u);
    return why;
}

int cli_source_read(const char *text, const char *endpoint, cli_source *out)
{
    *out = (cli_source){ 0 };
    const hub *h = NULL;
    for (size_t i = 0; i < sizeof HUB / sizeof *HUB; i++)
        if (strncmp(text, HUB[i].prefix, strlen(HUB[i].prefix)) == 0) h = &HUB[i];
    if (!h && !strstr(text, "://")) {
        cli_error("%s: expected hf:org/repo/file, ms:org/repo/file or an https URL", text);
        return CLI_MISUSED;
    }
    if (h) {
        const int rc = from_hub(h, text, endpoint, out);
        if (rc) return rc;
    }
    const char *why = cli_url_refused(h ? out->url : text, true, &out->loopback);
    if (why) {
        cli_error("%s: %s", h ? out->url : text, why);
        return CLI_MISUSED;
    }
    return h ? CLI_DONE : from_url(text, out);
}

void cli_source_done(cli_source *s)
{
    free(s->url);
    free(s->name);
    *s = (cli_source){ 0 };
}
