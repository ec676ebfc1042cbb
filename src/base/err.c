/* SPDX-License-Identifier: Apache-2.0
 *
 * err.c - status texts and error records.
 */
#include "base/err.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

const char *mnw_status_text(mnw_status status)
{
    switch (status) {
#define X(name, number, text) \
    case MNW_##name: return text;
        MNW_STATUS_LIST(X)
#undef X
    }
    return "unknown status";
}

const char *mnw_warning_id(mnw_warning warning)
{
    switch (warning) {
    case MNW_WARNING_NONE: return "none";
#define X(name, number, id) \
    case MNW_WARNING_##name: return id;
        MNW_WARNING_LIST(X)
#undef X
    }
    return "unknown";
}

#define STR_(x) #x
#define STR(x) STR_(x)

const char *mnw_version(void)
{
    return STR(MNW_VERSION_MAJOR) "." STR(MNW_VERSION_MINOR) "." STR(MNW_VERSION_PATCH);
}

mnw_status mn_err_set(mn_err *err, mnw_status code, const char *fmt, ...)
{
    if (!err) return code;
    if (err->code != MNW_OK) return err->code;

    va_list ap;
    va_start(ap, fmt);
    vsnprintf(err->text, sizeof err->text, fmt, ap);
    va_end(ap);
    mn_utf8_clean(err->text, strlen(err->text));
    err->code = code;
    return code;
}

void mn_err_prefix(mn_err *err, const char *fmt, ...)
{
    if (!err || err->code == MNW_OK) return;

    char    old[MN_ERR_TEXT], prefix[MN_ERR_TEXT];
    va_list ap;
    memcpy(old, err->text, sizeof old);
    va_start(ap, fmt);
    vsnprintf(prefix, sizeof prefix, fmt, ap);
    va_end(ap);
    const size_t room = sizeof err->text - 1;
    const size_t n = strnlen(prefix, room - 2);
    memcpy(err->text, prefix, n);
    memcpy(err->text + n, ": ", 2);
    const size_t m = strnlen(old, room - n - 2);
    memcpy(err->text + n + 2, old, m);
    err->text[n + 2 + m] = '\0';
    mn_utf8_clean(err->text, n + 2 + m);
}

void mn_err_clear(mn_err *err)
{
    err->code = MNW_OK;
    err->text[0] = '\0';
}
