/* SPDX-License-Identifier: Apache-2.0
 *
 * backend_cpu.h - the phases on a processor: fused, threaded, vectorised.
 */
#ifndef MN_BACKEND_CPU_H
#define MN_BACKEND_CPU_H

#include "model/backend.h"

extern const mn_backend mn_backend_cpu;

#endif
