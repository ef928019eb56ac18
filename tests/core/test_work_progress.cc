// SPDX-License-Identifier: MIT
#include "src/core/work_progress.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "src/core/parallel.h"
#include "src/core/status.h"
#include "tests/support/catch.h"

namespace polarquant {
namespace {

void sleep_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

bool is_cancelled(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.code() == StatusCode::cancelled;
  }
  return false;
}

TEST_CASE("work is told in stages, and never falls", "[core][progress]") {
  std::vector<double> heard;
  const std::function<bool(double)> report = [&](double done) {
    heard.push_back(done);
    return true;
  };
  const WorkProgress progress(report, "train");
  const auto tell = [](double share) {
    sleep_ms(25);
    report_work(share);
  };
  {
    const WorkStage first(0, 0.5);
    tell(0.5);
    {
      const WorkStage half(0.5, 1);
      tell(0.5);
      tell(0.1);
    }
    tell(1);
  }
  tell(0.2);
  tell(1);
  CHECK(heard == std::vector<double>{0.25, 0.375, 0.375, 0.5, 0.5, 1});
}

TEST_CASE("a stopped call ends in loops, but not where it must not", "[core][progress]") {
  const std::function<bool(double)> stop = [](double) { return false; };
  for (const int threads : {1, 2}) {
    const WorkProgress progress(stop, "add");
    std::atomic<int> done{0};
    const auto loop = [&] {
      parallel_for(1000, threads, [&](int64_t, int) {
        sleep_ms(1);
        ++done;
      });
    };
    {
      const WorkWithoutStop until_end;
      CHECK_FALSE(is_cancelled([] { poll_work(); }));
    }
    CHECK(is_cancelled(loop));
    CHECK(done < 900);
    CHECK(is_cancelled([] { poll_work(); }));
    const WorkWithoutStop until_end;
    CHECK_FALSE(is_cancelled([] { poll_work(); }));
  }
  CHECK_FALSE(is_cancelled([] { poll_work(); }));
}

TEST_CASE("calls inside a report are calls of their own", "[core][progress]") {
  int asked = 0;
  const std::function<bool(double)> report = [&](double) {
    ++asked;
    const std::function<bool(double)> none;
    const WorkProgress inner(none, "search");
    CHECK(WorkProgress::current() == nullptr);
    poll_work();
    return true;
  };
  const WorkProgress progress(report, "train");
  poll_work();
  CHECK(asked == 1);
  CHECK(WorkProgress::current() == &progress);
  std::thread([] { CHECK(WorkProgress::current() == nullptr); }).join();
}

}  // namespace
}  // namespace polarquant
