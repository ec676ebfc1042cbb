/* SPDX-License-Identifier: Apache-2.0
 *
 * minnow/minnow.h - all of libminnow's public interface.
 *
 * Read in this order: base, ctx, model, tokenizer, session, sampler, chat, generate; digest,
 * convert, quantize and synthetic stand alone.
 */
#ifndef MINNOW_MINNOW_H
#define MINNOW_MINNOW_H

#include <minnow/base.h>
#include <minnow/chat.h>
#include <minnow/convert.h>
#include <minnow/ctx.h>
#include <minnow/digest.h>
#include <minnow/generate.h>
#include <minnow/model.h>
#include <minnow/quantize.h>
#include <minnow/sampler.h>
#include <minnow/session.h>
#include <minnow/synthetic.h>
#include <minnow/tokenizer.h>

#endif
