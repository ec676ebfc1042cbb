/* SPDX-License-Identifier: Apache-2.0
 *
 * backend_ref.h - the phases as formulas: scalar, unfused, one thread.  What the others are judged by.
 */
#ifndef MN_BACKEND_REF_H
#define MN_BACKEND_REF_H

#include "model/backend.h"

extern const mn_backend mn_backend_ref;

#endif
