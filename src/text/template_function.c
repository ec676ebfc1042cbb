/* SPDX-License-Identifier: Apache-2.0
 *
 * template_function.c - functions that every template may call, and how natives are found.
 */
#include <stdio.h>

#include "text/template_run.h"

const mn_tpl_native *mn_tpl_native_in(const mn_tpl_native *table, size_t n, mn_str name)
{
    for (size_t i = 0; i < n; i++) {
        if (mn_str_is(name, table[i].name)) return &table[i];
    }
    return NULL;
}

static mnw_status raise_exception(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    mn_tpl_value text;
    MN_TRY(mn_tpl_to_text(r, c->arg[0], &text));
    const mn_str s = mn_tpl_str(text.as.s);
    return mn_tpl_fail(r, MNW_E_TEMPLATE, "%.*s", (int)(s.n < 180 ? s.n : 180), s.p);
}

static mnw_status range(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    int64_t from, to, by;
    MN_TRY(mn_tpl_want_int(r, c->arg[0], 0, &from));
    MN_TRY(mn_tpl_want_int(r, c->arg[1], 0, &to));
    MN_TRY(mn_tpl_want_int(r, c->arg[2], 1, &by));
    if (c->arg[1].type == MN_TPL_ABSENT) {
        to = from;
        from = 0;
    }
    if (by == 0) return mn_tpl_fail(r, MNW_E_TEMPLATE, "range() with a step of 0");
    MN_TRY(mn_tpl_new_list(r, MN_TPL_LIST, 0, out));
    for (int64_t i = from; by > 0 ? i < to : i > to;) {
        MN_TRY(mn_tpl_work(r, 1));
        MN_TRY(mn_tpl_add(r, out->as.list, mn_tpl_int(i)));
        if (__builtin_add_overflow(i, by, &i)) break;
    }
    return MNW_OK;
}

/* namespace(a=1) and dict(a=1), also with a mapping in front. */
static mnw_status make_dict(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_type type, mn_tpl_value *out)
{
    MN_TRY(mn_tpl_new_dict(r, type, out));
    if (c->n_pos > 1 || (c->n_pos && c->pos[0].type != MN_TPL_DICT)) {
        return mn_tpl_fail(r, MNW_E_TEMPLATE, "expected a mapping or named arguments");
    }
    for (size_t i = 0; c->n_pos && i < c->pos[0].as.dict->n; i++) {
        const mn_tpl_entry *e = &c->pos[0].as.dict->at[i];
        MN_TRY(mn_tpl_work(r, 1));
        MN_TRY(mn_tpl_set(r, out->as.dict, e->key, e->value));
    }
    for (size_t i = 0; i < c->n_kw; i++) {
        const mn_tpl_value key = { .type = MN_TPL_STR, .as.s = c->kw_name[i] };
        MN_TRY(mn_tpl_set(r, out->as.dict, key, c->kw[i]));
    }
    return MNW_OK;
}

static mnw_status namespace_of(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    return make_dict(r, c, MN_TPL_SPACE, out);
}

static mnw_status dict_of(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    return make_dict(r, c, MN_TPL_DICT, out);
}

typedef struct date {
    int64_t year;
    int     month, day, hour, minute, second, weekday, yearday;   // month, day, yearday from 1
} date;

/* Days since 1970 to a date of the Gregorian calendar, in eras of 400 years from a 1st of March. */
static date date_of(int64_t now)
{
    date          d;
    const int64_t days = now / 86400 - (now % 86400 < 0), sec = now - days * 86400;
    const int64_t z = days + 719468, era = (z >= 0 ? z : z - 146096) / 146097;
    const int64_t doe = z - era * 146097;
    const int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    const int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100), mp = (5 * doy + 2) / 153;
    d.day = (int)(doy - (153 * mp + 2) / 5 + 1);
    d.month = (int)(mp < 10 ? mp + 3 : mp - 9);
    d.year = yoe + era * 400 + (d.month <= 2);
    d.hour = (int)(sec / 3600);
    d.minute = (int)(sec / 60 % 60);
    d.second = (int)(sec % 60);
    d.weekday = (int)((days % 7 + 11) % 7);   // 1970-01-01 was a Thursday; Sunday is 0
    const bool leap = (d.year % 4 == 0 && d.year % 100 != 0) || d.year % 400 == 0;
    d.yearday = (int)(doy < 306 ? doy + 60 + leap : doy - 305);
    return d;
}

static bool format_one(char c, bool pad, const date *d, char *z, size_t size)
{
    static const char *const MONTHS[] = { "January", "February", "March", "April", "May", "June",
                                          "July", "August", "September", "October", "November",
                                          "December" };
    static const char *const DAYS[] = { "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday",
                                        "Friday", "Saturday" };
    const int hour12 = d->hour % 12 ? d->hour % 12 : 12;
    int       n = -1, width = 2;
    switch (c) {
    case 'Y': snprintf(z, size, "%04lld", (long long)d->year); return true;
    case 'B': snprintf(z, size, "%s", MONTHS[d->month - 1]); return true;
    case 'b': snprintf(z, size, "%.3s", MONTHS[d->month - 1]); return true;
    case 'A': snprintf(z, size, "%s", DAYS[d->weekday]); return true;
    case 'a': snprintf(z, size, "%.3s", DAYS[d->weekday]); return true;
    case 'p': snprintf(z, size, "%s", d->hour < 12 ? "AM" : "PM"); return true;
    case 'F':
        snprintf(z, size, "%04lld-%02d-%02d", (long long)d->year, d->month, d->day);
        return true;
    case 'T': snprintf(z, size, "%02d:%02d:%02d", d->hour, d->minute, d->second); return true;
    case 'Z': snprintf(z, size, "UTC"); return true;
    case '%': snprintf(z, size, "%%"); return true;
    case 'd': n = d->day; break;
    case 'm': n = d->month; break;
    case 'y': n = (int)(((d->year % 100) + 100) % 100); break;
    case 'H': n = d->hour; break;
    case 'I': n = hour12; break;
    case 'M': n = d->minute; break;
    case 'S': n = d->second; break;
    case 'j': n = d->yearday; width = 3; break;
    default: return false;
    }
    snprintf(z, size, "%0*d", pad ? width : 1, n);
    return true;
}

/* The date in UTC, so that the prompt does not depend on where the machine stands. */
static mnw_status strftime_now(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    enum { LAST_YEAR_9999 = 4 };   // seconds have at most this many of 64 bits above 2^36
    const mn_tpl_text *f;
    mn_tpl_buf         b = { 0 };
    MN_TRY(mn_tpl_want_text(r, c->arg[0], &f));
    if (r->now < 0 || r->now > (INT64_C(1) << 36) * LAST_YEAR_9999) {
        return mn_tpl_fail(r, MNW_E_TEMPLATE, "the time %lld is out of range", (long long)r->now);
    }
    const date d = date_of(r->now);
    for (size_t i = 0; i < f->n; i++) {
        char z[64];
        if (f->p[i] != '%' || i + 1 == f->n) {
            MN_TRY(mn_tpl_put(r, &b, mn_tpl_part(f, i, 1)));
            continue;
        }
        const bool pad = f->p[++i] != '-' || i + 1 == f->n;
        if (!pad) i++;
        if (!format_one(f->p[i], pad, &d, z, sizeof z)) {
            return mn_tpl_fail(r, MNW_E_TEMPLATE, "strftime_now: %%%c is not supported", f->p[i]);
        }
        MN_TRY(mn_tpl_put_z(r, &b, z, true));
    }
    return mn_tpl_buf_value(r, &b, out);
}

const mn_tpl_native *mn_tpl_function(mn_str name)
{
    static const mn_tpl_native FUNCTIONS[] = {
        { "raise_exception", raise_exception, 1, "message", 0 },
        { "strftime_now", strftime_now, 1, "format", 0 },
        { "range", range, 1, "start stop step", 0 },
        { "namespace", namespace_of, 0, NULL, 0 },
        { "dict", dict_of, 0, NULL, 0 },
    };
    return mn_tpl_native_in(FUNCTIONS, sizeof FUNCTIONS / sizeof *FUNCTIONS, name);
}
