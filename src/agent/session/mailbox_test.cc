// SPDX-License-Identifier: Apache-2.0
#include "agent/session/mailbox.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace sonde::agent {
namespace {

using namespace std::chrono_literals;

// Answers each question with twice the number that was asked for.
class Doubler {
 public:
  explicit Doubler(std::chrono::milliseconds limit, std::chrono::milliseconds delay = 0ms)
      : mailbox(limit), delay_(delay), thread_([this] { run(); }) {}
  ~Doubler() {
    mailbox.close();
    thread_.join();
  }

  std::optional<std::int64_t> ask(std::int64_t number) {
    return mailbox.ask([&] { question_ = number; });
  }

  Mailbox mailbox;

 private:
  void run() {
    while (mailbox.wait()) {
      std::this_thread::sleep_for(delay_);
      mailbox.answer(2 * question_);
    }
  }

  std::chrono::milliseconds delay_;
  std::int64_t question_ = 0;
  std::thread thread_;
};

TEST(Mailbox, GivesEachAskerItsOwnAnswer) {
  Doubler doubler(10s);
  std::vector<std::thread> askers;
  askers.reserve(4);
  std::atomic<int> wrong = 0;
  for (int asker = 0; asker < 4; ++asker) {
    askers.emplace_back([&, asker] {
      for (std::int64_t i = 0; i < 2000; ++i) {
        const std::int64_t number = asker * 10'000 + i;
        if (doubler.ask(number) != 2 * number) ++wrong;
      }
    });
  }
  for (std::thread& asker : askers) asker.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Mailbox, WaitsForAnAnswerWithinTheLimit) {
  Doubler doubler(10s, 60ms);
  EXPECT_EQ(doubler.ask(21), 42);
}

TEST(Mailbox, ClosesIfAnAnswerTakesTooLong) {
  Doubler doubler(40ms, 400ms);
  EXPECT_EQ(doubler.ask(21), std::nullopt);
  EXPECT_TRUE(doubler.mailbox.is_closed());
  EXPECT_EQ(doubler.ask(21), std::nullopt) << "later questions are not asked";
  EXPECT_FALSE(doubler.mailbox.close()) << "it was closed already";
}

TEST(Mailbox, LetsThoseGoThatWaitForTheirTurn) {
  Doubler doubler(40ms, 400ms);
  std::vector<std::thread> askers;
  askers.reserve(4);
  std::atomic<int> unanswered = 0;
  for (int i = 0; i < 4; ++i) askers.emplace_back([&] { unanswered += doubler.ask(1) ? 0 : 1; });
  for (std::thread& asker : askers) asker.join();
  EXPECT_EQ(unanswered, 4);
}

}  // namespace
}  // namespace sonde::agent
