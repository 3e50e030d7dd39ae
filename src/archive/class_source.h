// SPDX-License-Identifier: Apache-2.0
// All classes, or all files, that a path given by the user stands for: the one way the commands read class files.
//
//   path                         entry name
//   a class file                 the path itself
//   a folder                     path/com/acme/Foo.class       recursive; links to folders are not followed
//   a zip, jar or jmod           path!/com/acme/Foo.class
//   a JDK's lib/modules          path!/java.base/java/lang/Object.class
//
// Files are told apart by their content, not by their name. Archives inside of archives stay closed.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"

namespace sonde::archive {

// Valid during the callback only.
struct Entry {
  std::string name;       // for people, as in the table above
  std::string_view path;  // inside the folder or archive; the file name if the path is a single class file
  Bytes bytes;
  bool is_directory = false;  // only zips list their directories; `path` then ends with '/'
  bool is_stored = false;     // in a zip without compression, which a copy has to keep: loaders map nested jars
};
using ClassEntry = Entry;  // one whose path ends with ".class" and that is not a directory

using EntryCallback = std::function<bool(const Entry&)>;  // false: stop
using EntryErrorCallback = std::function<void(const std::string& name, const Error&)>;

// Visits in a fixed order: folders sorted by name, depth first; archives in the order they store things. An entry that
// cannot be read is handed to `on_error` and the visit goes on; the Result is about the path itself. What a callback
// throws passes through.
Result<void> for_each_class(const std::filesystem::path& path, const EntryCallback& on_class,
                            const EntryErrorCallback& on_error);

// The same for every file and zip directory, which is what rewriting an archive takes.
Result<void> for_each_entry(const std::filesystem::path& path, const EntryCallback& on_entry,
                            const EntryErrorCallback& on_error);

}  // namespace sonde::archive
