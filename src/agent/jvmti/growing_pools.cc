// SPDX-License-Identifier: Apache-2.0
#include "agent/jvmti/growing_pools.h"

namespace sonde::agent {

void GrowingPools::note(const classfile::ClassFile& cls) {
  if (!cls.pool().has_nan()) return;
  const std::lock_guard lock(mutex_);
  names_.emplace(cls.name());
}

bool GrowingPools::has(std::string_view class_name) const {
  const std::lock_guard lock(mutex_);
  return names_.contains(std::string(class_name));
}

bool has_room_in_pool(jvmtiEnv* jvmti, jclass cls) {
  constexpr jint kMost = 60'000;  // of 65535
  jint count = 0;
  jint size = 0;
  unsigned char* bytes = nullptr;
  if (jvmti->GetConstantPool(cls, &count, &size, &bytes) != JVMTI_ERROR_NONE) return false;
  jvmti->Deallocate(bytes);
  return count <= kMost;
}

}  // namespace sonde::agent
