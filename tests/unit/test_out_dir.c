/* SPDX-License-Identifier: Apache-2.0
 *
 * A folder that is written appears under its name with all its files, or does not.
 */
#include "tmpdir.h"

#include "base/os.h"

TEST(an_output_folder_appears_whole_or_not_at_all)
{
    mn_out_dir  d;
    mn_out_file f;
    mn_err      err = { 0 };
    char        path[MN_OUT_PATH];
    for (int commit = 0; commit <= 1; commit++) {
        OK(mn_out_dir_open(tmp_path("folder///"), &d, &err));
        OK(mn_out_dir_path(&d, "a", path, &err));
        OK(mn_out_open(path, &f, &err));
        OK(mn_out_write(&f, "x", 1, &err));
        OK(mn_out_commit(&f, &err));
        NO(mn_os_exists(tmp_path("folder")));
        if (commit) OK(mn_out_dir_commit(&d, &err));
        mn_out_dir_abandon(&d);
        EQ(tmp_files(0), commit);
        EQ(mn_os_exists(tmp_path("folder/a")), commit);
    }
    EQ(mn_out_dir_open(tmp_path("folder"), &d, &err), MNW_E_ARG);   // it is not empty
    HAS(err.text, "folder: exists already");
    mn_err_clear(&err);
    mn_out_dir_abandon(&d);
    unlink(tmp_path("folder/a"));
    OK(mn_out_dir_open(tmp_path("folder"), &d, &err));              // now it is
    OK(mn_out_dir_commit(&d, &err));
    tmp_forget_dir(tmp_path("folder"));
    EQ(mn_out_dir_open(tmp_path("no/folder"), &d, &err), MNW_E_IO);
    HAS(err.text, "cannot create a folder beside it");
    EQ(tmp_files(0), 0);
}

int main(void)
{
    tmp_open();
    const int failed = RUN(T(an_output_folder_appears_whole_or_not_at_all));
    tmp_close();
    return failed;
}
