// SPDX-License-Identifier: Apache-2.0
// The choice of methods that --include and --exclude make, the same when recording and when reading.
//
//   com.acme.*           everything in the package and below        HashMap.put          a method, in any package
//   java.util.HashMap    a class                                    com.acme.*.get*      methods by parts of names
//   HashMap              a class, in any package                    *                    everything
//
// A pattern is compared with the class and with class.method, each with and without the package; `*` stands for any
// text, `?` for one character, `.` and `/` are the same.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sonde {

// `class_name` is an internal name: java/util/HashMap.
bool method_matches(std::string_view pattern, std::string_view class_name, std::string_view method_name);

class MethodFilter {
 public:
  MethodFilter() = default;  // accepts everything
  MethodFilter(std::vector<std::string> include, std::vector<std::string> exclude)
      : include_(std::move(include)), exclude_(std::move(exclude)) {}

  // Included by some pattern (or there is none to include), and excluded by none.
  [[nodiscard]] bool accepts(std::string_view class_name, std::string_view method_name) const;
  [[nodiscard]] bool accepts_everything() const { return include_.empty() && exclude_.empty(); }

 private:
  std::vector<std::string> include_;
  std::vector<std::string> exclude_;
};

}  // namespace sonde
