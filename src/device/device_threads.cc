// SPDX-License-Identifier: MIT
#include "src/device/device_threads.h"

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "src/core/parallel.h"
#include "src/core/status.h"

namespace polarquant::device {
namespace {

struct Call {
  const std::function<void(size_t part)>& body;
  size_t unfinished;  // of the parts after the first
  std::vector<std::exception_ptr> errors;
  std::condition_variable finished;
};

struct Task {
  Call* call;
  size_t part;
};

void run(const Task& task) {
  try {
    task.call->body(task.part);
  } catch (...) {
    task.call->errors[task.part] = std::current_exception();
  }
}

}  // namespace

class DeviceThreads::Pool {
 public:
  ~Pool() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      ends_ = true;
    }
    work_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  /// Gives the parts after the first to threads.
  void begin(Call* call, size_t count) {
    const std::lock_guard<std::mutex> lock(mutex_);
    try {
      for (size_t part = 1; part < count; ++part) tasks_.push_back({call, part});
      while (threads_.size() < busy_ + tasks_.size())
        threads_.emplace_back([this] { take_tasks(); });
    } catch (const std::exception& error) {
      // Nobody has taken one of them yet: taking needs the lock.
      while (!tasks_.empty() && tasks_.back().call == call) tasks_.pop_back();
      fail(StatusCode::out_of_memory, "a thread for each of {} devices could not be started: {}",
           count, error.what());
    }
    work_.notify_all();
  }

  void finish(Call* call) {
    std::unique_lock<std::mutex> lock(mutex_);
    call->finished.wait(lock, [&] { return call->unfinished == 0; });
  }

 private:
  void take_tasks() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
      work_.wait(lock, [&] { return ends_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      const Task task = tasks_.front();
      tasks_.pop_front();
      ++busy_;
      lock.unlock();
      run(task);
      lock.lock();
      --busy_;
      // Under the lock: once the last part has ended, the call may be gone.
      if (--task.call->unfinished == 0) task.call->finished.notify_one();
    }
  }

  std::mutex mutex_;
  std::condition_variable work_;
  std::deque<Task> tasks_;
  std::vector<std::thread> threads_;
  size_t busy_ = 0;
  bool ends_ = false;
};

DeviceThreads::DeviceThreads() : pool_(std::make_unique<Pool>()) {}

DeviceThreads::~DeviceThreads() {
  // Waiting would never end: neither the threads nor the condition that they wait on are left.
  if (in_forked_child()) static_cast<void>(pool_.release());
}

void DeviceThreads::run_together(size_t count, const std::function<void(size_t part)>& body) {
  if (count == 0) return;
  Call call = {body, count - 1, std::vector<std::exception_ptr>(count), {}};
  if (count == 1 || in_forked_child()) {
    for (size_t part = 0; part < count; ++part) run({&call, part});
  } else {
    pool_->begin(&call, count);
    run({&call, 0});
    pool_->finish(&call);
  }
  for (const std::exception_ptr& error : call.errors) {
    if (error) std::rethrow_exception(error);
  }
}

}  // namespace polarquant::device
