/* SPDX-License-Identifier: Apache-2.0
 *
 * bar.c - progress that never goes back: a bar on a terminal, a line at each tenth elsewhere.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/say.h"

enum { WIDTH = 24 };
static const double REDRAW_S = 0.1;

void cli_bar_start(cli_bar *b, const char *what, bool quiet, uint64_t done, uint64_t total)
{
    cli_bar_count(b, what, NULL, quiet, done, total);
}

void cli_bar_count(cli_bar *b, const char *what, const char *unit, bool quiet, uint64_t done,
                   uint64_t total)
{
    *b = (cli_bar){ .what = what, .unit = unit, .quiet = quiet, .start = done, .total = total };
    const char *term = getenv("TERM");
    b->terminal = isatty(STDERR_FILENO) && !(term && strcmp(term, "dumb") == 0);
    b->began = cli_seconds();
    b->tenth = -1;
    cli_bar_move(b, done);
}

static void draw(cli_bar *b, double now)
{
    const double share = b->total ? (double)b->high / (double)b->total : 0;
    const double rate = now > b->began ? (double)(b->high - b->start) / (now - b->began) : 0;
    char bar[WIDTH + 1];
    for (int i = 0; i < WIDTH; i++) bar[i] = i < (int)(share * WIDTH) ? '#' : '.';
    bar[WIDTH] = 0;
    fprintf(stderr, "\r%s [%s] %3.0f%%  ", b->what, bar, share * 100);
    if (b->unit)
        fprintf(stderr, "%" PRIu64 " of %" PRIu64 " %s  %.1f/s", b->high, b->total, b->unit, rate);
    else
        fprintf(stderr, "%.1f of %.1f MB  %.1f MB/s", (double)b->high / 1e6, (double)b->total / 1e6,
                rate / 1e6);
    if (rate > 0 && b->total) fprintf(stderr, "  %.0f s left", (double)(b->total - b->high) / rate);
    fputs("\x1b[K", stderr);
    fflush(stderr);
    b->drawn = true;
    b->shown = now;
}

void cli_bar_move(cli_bar *b, uint64_t done)
{
    if (done > b->high) b->high = done;
    if (b->total && b->high > b->total) b->high = b->total;
    if (b->quiet) return;
    const double now = cli_seconds();
    if (b->terminal) {
        if (!b->drawn || now - b->shown >= REDRAW_S || b->high == b->total) draw(b, now);
        return;
    }
    const int tenth = b->total ? (int)(10.0 * (double)b->high / (double)b->total) : 0;
    if (tenth > b->tenth) {
        b->tenth = tenth;
        if (b->total)
            fprintf(stderr, "%s: %d%% of %" PRIu64 " %s\n", b->what, tenth * 10, b->total,
                    b->unit ? b->unit : "bytes");
    }
}

void cli_bar_end(cli_bar *b)
{
    if (b->drawn) fputc('\n', stderr);
    b->drawn = false;
}
