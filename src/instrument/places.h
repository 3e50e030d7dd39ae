// SPDX-License-Identifier: Apache-2.0
// The places of a method that more than one pass has to do with: its ends, its handlers, its segments, and whatever may
// throw.
#pragma once

#include "classfile/code_editor.h"
#include "instrument/count_plan.h"

namespace sonde::instrument {

void before_returns(classfile::CodeEditor& code, classfile::SnippetId snippet);

// Where exceptions arrive that the method itself catches; each place once.
void before_handlers(classfile::CodeEditor& code, classfile::SnippetId snippet);

// Where a segment is counted that is added to memory as a whole.
void at_segment(classfile::CodeEditor& code, const Segment& segment, classfile::SnippetId snippet);

// Exceptions that leave the method go to `leave`, which ends with athrow: a catch-all behind the method's own handlers
// for each run of instructions that may throw. `plan` is one of the same code.
void cover_what_throws(classfile::CodeEditor& code, const CountPlan& plan, classfile::SnippetId leave);

}  // namespace sonde::instrument
