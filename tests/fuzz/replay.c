/* SPDX-License-Identifier: Apache-2.0
 *
 * replay.c - run a fuzz target over files, without a fuzzer: what was found once stays found.
 *
 *     replay_gguf FILE|FOLDER...         at least one input must be there
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Run one file; 1 if it was run, 0 if it could not be. */
static int replay_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f) return 0;
    fseek(f, 0, SEEK_END);
    const long n = ftell(f);
    rewind(f);
    uint8_t *p = n >= 0 ? malloc(n > 0 ? (size_t)n : 1) : NULL;   // exact, so a sanitizer sees one
    const int ok = p && fread(p, 1, (size_t)n, f) == (size_t)n;   // byte too far
    fclose(f);
    if (ok) LLVMFuzzerTestOneInput(p, (size_t)n);
    free(p);
    if (!ok) fprintf(stderr, "%s: cannot read\n", path);
    return ok;
}

int main(int argc, char **argv)
{
    int n = 0, bad = 0;
    for (int i = 1; i < argc; i++) {
        DIR *d = opendir(argv[i]);
        if (!d) {
            if (replay_file(argv[i])) n++;
            else bad = 1;
            continue;
        }
        for (struct dirent *e; (e = readdir(d));) {
            char path[4096];
            if (e->d_name[0] == '.') continue;
            snprintf(path, sizeof path, "%s/%s", argv[i], e->d_name);
            if (replay_file(path)) n++;
            else bad = 1;
        }
        closedir(d);
    }
    printf("%d inputs replayed\n", n);
    return n > 0 && !bad ? 0 : 1;
}
