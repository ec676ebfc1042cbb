/* SPDX-License-Identifier: Apache-2.0
 *
 * snapshot.h - a session's tokens and cache as bytes.  docs/FORMAT.md draws them.
 */
#ifndef MN_RUN_SNAPSHOT_H
#define MN_RUN_SNAPSHOT_H

#include "base/bytes.h"
#include "run/session.h"

/* Put the session where the snapshot was.  Everything is verified before anything is written. */
mnw_status mn_snapshot_apply(mnw_session *s, mn_bytes file);

#endif
