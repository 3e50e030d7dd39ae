// SPDX-License-Identifier: Apache-2.0
// Names of methods as a reader wants them: with dots, and with parameters only where the name alone says too little.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "profile/profile.h"

namespace sonde::cli {

class MethodNames {
 public:
  // Overloads are told apart if they occur in any of the profiles.
  explicit MethodNames(const std::vector<const profile::Profile*>& profiles);

  [[nodiscard]] std::string operator()(const profile::Profile& profile, profile::MethodId id) const;
  // By method.
  [[nodiscard]] std::vector<std::string> all(const profile::Profile& profile) const;

 private:
  struct Use {
    std::string descriptor;  // of the first method of that name
    bool is_ambiguous = false;
  };
  std::unordered_map<std::string, Use> uses_;
};

}  // namespace sonde::cli
