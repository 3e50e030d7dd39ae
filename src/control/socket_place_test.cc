// SPDX-License-Identifier: Apache-2.0
#include "control/socket_place.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace sonde::control {
namespace {

namespace fs = std::filesystem;

class SocketPlace : public testing::Test {
 protected:
  SocketPlace() {
    char name[] = "/tmp/socket_place_testXXXXXX";
    tmp_ = mkdtemp(name);
  }
  ~SocketPlace() override { fs::remove_all(tmp_); }
  SocketPlace(const SocketPlace&) = delete;
  SocketPlace& operator=(const SocketPlace&) = delete;

  fs::path tmp_;
  const uid_t self_ = geteuid();
};

TEST_F(SocketPlace, IsAPrivateFolderWithASocket) {
  const auto folder = make_socket_folder(tmp_.string(), self_);
  ASSERT_TRUE(folder.ok()) << folder.error().to_string();
  struct stat status {};
  ASSERT_EQ(stat(socket_folder(tmp_.string(), self_).c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700U);
  const auto listening = listen_in(*folder, "17");
  ASSERT_TRUE(listening.ok()) << listening.error().to_string();
  const auto connection = connect_in(*folder, "17", self_);
  ASSERT_TRUE(connection.ok()) << connection.error().to_string();
  EXPECT_EQ(*peer_of(*connection), self_);
}

TEST_F(SocketPlace, RefusesASymbolicLink) {
  fs::create_directory(tmp_ / "elsewhere");
  fs::permissions(tmp_ / "elsewhere", fs::perms::owner_all);
  fs::create_directory_symlink(tmp_ / "elsewhere", socket_folder(tmp_.string(), self_));
  EXPECT_FALSE(make_socket_folder(tmp_.string(), self_).ok());
}

TEST_F(SocketPlace, RefusesAFolderThatOthersMayEnter) {
  fs::create_directory(socket_folder(tmp_.string(), self_));
  fs::permissions(socket_folder(tmp_.string(), self_), fs::perms::owner_all | fs::perms::others_exec);
  EXPECT_FALSE(make_socket_folder(tmp_.string(), self_).ok());
}

TEST_F(SocketPlace, RefusesAFolderOfSomebodyElse) {
  fs::create_directory(tmp_ / "folder");
  fs::permissions(tmp_ / "folder", fs::perms::owner_all);
  EXPECT_FALSE(open_private_folder((tmp_ / "folder").string(), self_ + 1).ok());
}

TEST_F(SocketPlace, RefusesAPeerThatIsSomebodyElse) {
  const auto folder = make_socket_folder(tmp_.string(), self_);
  const auto listening = listen_in(*folder, "17");
  EXPECT_FALSE(connect_in(*folder, "17", self_ + 1).ok());
}

TEST_F(SocketPlace, TakesThePlaceOfADeadSocket) {
  const auto folder = make_socket_folder(tmp_.string(), self_);
  { const auto dead = listen_in(*folder, "17"); }
  EXPECT_FALSE(connect_in(*folder, "17", self_).ok());
  const auto listening = listen_in(*folder, "17");
  EXPECT_TRUE(listening.ok());
  EXPECT_TRUE(connect_in(*folder, "17", self_).ok());
}

TEST_F(SocketPlace, WhatKilledProcessesLeftIsRemoved) {
  const auto folder = make_socket_folder(tmp_.string(), self_);
  const fs::path place = socket_folder(tmp_.string(), self_);
  constexpr const char* kNobody = "999999999";  // more than there can be
  const std::string self = std::to_string(getpid());
  for (const std::string name : {kNobody, "0999999999", self.c_str(), "other"}) {
    const auto dead = listen_in(*folder, name);
    ASSERT_TRUE(dead.ok());
  }
  const auto alive = listen_in(*folder, "999999998");
  std::ofstream(place / "999999997") << "no socket";
  EXPECT_EQ(remove_dead_sockets(*folder), 0U) << "they are young";
  EXPECT_EQ(remove_dead_sockets(*folder, 0), 1U);
  EXPECT_FALSE(fs::exists(place / kNobody));
  for (const std::string name : {"0999999999", self.c_str(), "other", "999999998", "999999997"})
    EXPECT_TRUE(fs::exists(place / name)) << name;
}

}  // namespace
}  // namespace sonde::control
