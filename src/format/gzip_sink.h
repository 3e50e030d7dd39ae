// SPDX-License-Identifier: Apache-2.0
// A sink that compresses (RFC 1952) and hands on. No time and no file name in the header: equal input, equal output.
#pragma once

#include <memory>
#include <string_view>

#include "format/sink.h"

namespace sonde::format {

class GzipSink {
 public:
  explicit GzipSink(Sink out);
  ~GzipSink();
  GzipSink(const GzipSink&) = delete;
  GzipSink& operator=(const GzipSink&) = delete;

  // False if `out` refused something.
  bool write(std::string_view bytes);
  // To be called once, after the last write.
  bool finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sonde::format
