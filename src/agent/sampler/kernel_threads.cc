// SPDX-License-Identifier: Apache-2.0
#include "agent/sampler/kernel_threads.h"

#include <dirent.h>

#include <cstdio>
#include <cstdlib>

namespace sonde::agent {

std::string kernel_name(pid_t tid) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/task/%d/comm", tid);
  std::FILE* file = std::fopen(path, "re");
  if (file == nullptr) return "";
  char name[64] = {};
  if (std::fgets(name, sizeof name, file) == nullptr) name[0] = 0;
  std::fclose(file);
  std::string text(name);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::vector<pid_t> threads_of_process() {
  std::vector<pid_t> tids;
  DIR* folder = opendir("/proc/self/task");
  if (folder == nullptr) return tids;
  while (const dirent* entry = readdir(folder)) {
    if (const int tid = std::atoi(entry->d_name); tid > 0) tids.push_back(tid);
  }
  closedir(folder);
  return tids;
}

}  // namespace sonde::agent
