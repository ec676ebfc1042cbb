/* SPDX-License-Identifier: Apache-2.0
 *
 * scan.h - are the numbers of a tensor numbers?
 */
#ifndef MN_FORMAT_SCAN_H
#define MN_FORMAT_SCAN_H

#include "base/meta.h"

/* Verify that each floating value, or each scale and offset of a quantised block, is finite.
 *
 * Reads the whole tensor.  Errors: MNW_E_FORMAT naming tensor, block and offset in the file. */
mnw_status mn_scan_tensor(const mn_tensor *t, mn_err *err);

#endif
