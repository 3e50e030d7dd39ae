// SPDX-License-Identifier: Apache-2.0
#include "format/html/writer.h"

#include <string>

#include "format/gzip_sink.h"
#include "format/html/page.h"
#include "format/html/page_data.h"

namespace sonde::format::html {
namespace {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '&': out += "&amp;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string title_of(const profile::Profile& profile, const profile::Profile* other) {
  const std::string& command = profile.recording.command;
  std::string title = command.empty() ? "Sonde" : command;
  if (other != nullptr) title += " (difference)";
  return escaped(title);
}

// RFC 4648, section 4; bytes may come in pieces of any size.
class Base64Sink {
 public:
  explicit Base64Sink(const Sink& out) : out_(out) {}

  bool write(std::string_view bytes) {
    std::string text;
    for (const char c : bytes) {
      group_ = group_ << 8 | static_cast<unsigned char>(c);
      if (++in_group_ == 3) put_group(text);
    }
    return out_(text);
  }
  bool finish() {
    if (in_group_ == 0) return true;
    const int missing = 3 - in_group_;
    std::string text;
    group_ <<= 8 * missing;
    put_group(text);
    text.replace(text.size() - static_cast<std::size_t>(missing), std::string::npos, missing, '=');
    return out_(text);
  }

 private:
  void put_group(std::string& text) {
    constexpr const char* digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (int shift = 18; shift >= 0; shift -= 6) text += digits[group_ >> shift & 63];
    group_ = 0;
    in_group_ = 0;
  }

  const Sink& out_;
  std::uint32_t group_ = 0;
  int in_group_ = 0;
};

}  // namespace

bool is_available() { return !page().empty(); }

bool write(const profile::Profile& profile, const profile::Profile* other, const Sink& sink) {
  const std::string_view view = page();
  const std::size_t title_at = view.find(kTitleMark);
  const std::size_t data_at = view.find(kDataMark);
  if (title_at == std::string_view::npos || data_at == std::string_view::npos || data_at < title_at) return false;
  const std::size_t after_title = title_at + kTitleMark.size();
  if (!sink(view.substr(0, title_at)) || !sink(title_of(profile, other)) ||
      !sink(view.substr(after_title, data_at - after_title))) {
    return false;
  }
  Base64Sink base64(sink);
  GzipSink gzip([&](std::string_view bytes) { return base64.write(bytes); });
  if (!gzip.write(page_data(profile, other)) || !gzip.finish() || !base64.finish()) return false;
  return sink(view.substr(data_at + kDataMark.size()));
}

}  // namespace sonde::format::html
