// SPDX-License-Identifier: GPL-3.0-or-later
#include "device.h"

#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "memory.h"

#if defined(__SANITIZE_ADDRESS__)
#define DS_ASAN_FIBERS
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define DS_ASAN_FIBERS
#endif
#endif
#ifdef DS_ASAN_FIBERS
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

namespace cuda_shim {

namespace {

constexpr std::size_t stack_bytes = 32 * page;
constexpr std::size_t shared_alignment = 128;
constexpr unsigned all_lanes = 32;

[[noreturn]] void stop(const char* sentence) {
    std::fprintf(stderr, "CUDA shim: block (%u, %u, %u), thread (%u, %u, %u): %s\n", blockIdx.x, blockIdx.y,
                 blockIdx.z, threadIdx.x, threadIdx.y, threadIdx.z, sentence);
    std::abort();
}

/// A stack that threads of a block run on, one after another as long as none has to wait.
struct Fiber {
    std::byte* memory = nullptr;  // null: the stack that run_grid was called on
    bool begun = false;
    ucontext_t first{};
    // What __builtin_setjmp keeps. swapcontext asks the kernel for the signal mask, which takes a hundred
    // times as long.
    std::array<void*, 5> place{};
    const void* bottom = nullptr;
    std::size_t size = 0;
    void* fake_stack = nullptr;
    void* tsan = nullptr;

    Fiber() = default;
    Fiber(const Fiber&) = delete;
    Fiber& operator=(const Fiber&) = delete;
    ~Fiber() {
#ifdef __SANITIZE_THREAD__
        if (memory != nullptr) __tsan_destroy_fiber(tsan);
#endif
        if (memory != nullptr) munmap(memory, stack_bytes + page);
    }
    void make_stack() {
        void* mapped = mmap(nullptr, stack_bytes + page, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (mapped == MAP_FAILED || mprotect(mapped, page, PROT_NONE) != 0) stop("No memory for a stack.");
        memory = static_cast<std::byte*>(mapped);
        bottom = memory + page;
        size = stack_bytes;
#ifdef __SANITIZE_THREAD__
        tsan = __tsan_create_fiber(0);
#endif
    }
};

enum class State : std::uint8_t { running, waits_for_block, waits_for_warp, ended };

struct Thread {
    State state = State::running;
    bool parity = false;  // of the barrier it waits for
    Fiber* fiber = nullptr;
};

/// One barrier after another. Nobody can be two ahead of anybody else, so two places are enough for what is
/// handed over.
struct Barrier {
    bool parity = false;
    unsigned arrived = 0;
};
struct Warp {
    Barrier barrier;
    unsigned mask = 0;
    std::uint64_t given[2][all_lanes];
};

class Scheduler {
public:
    void run(dim3 grid, dim3 block, std::size_t shared_bytes, const std::function<void()>& thread);
    bool wait_for_block(bool given);
    const std::uint64_t* exchange(unsigned mask, std::uint64_t bits);
    unsigned current() const { return current_; }
    std::byte* shared() { return shared_memory_.get(); }

private:
    void run_block();
    void enter(unsigned thread);
    void carry();
    static void begin();
    void wait();
    void go_on();
    bool can_run(unsigned t) const;
    void resume(unsigned t);
    void switch_to(Fiber& to);
    // Never returns: ThreadSanitizer must not count it as a call on the fiber that it leads to.
    __attribute__((noinline, no_sanitize("thread"))) void jump(Fiber& to);
    [[noreturn]] void stuck();

    dim3 block_;
    unsigned n_thread_ = 0;
    const std::function<void()>* body_ = nullptr;
    unsigned n_started_ = 0;  // threads start in order
    unsigned n_ended_ = 0;
    unsigned current_ = 0;
    bool running_ = false;
    std::vector<Thread> threads_;
    std::vector<Warp> warps_;
    Barrier barrier_;
    bool any_[2] = {false, false};
    Fiber main_;
    Fiber* here_ = nullptr;
    Fiber* left_ = nullptr;  // whom the last switch came from
    std::vector<std::unique_ptr<Fiber>> fibers_;
    std::vector<Fiber*> idle_;
    // Of the very size that was asked for, so that AddressSanitizer sees what lies behind.
    std::unique_ptr<std::byte, decltype([](std::byte* data) { std::free(data); })> shared_memory_;
};

Scheduler& scheduler() {
    thread_local Scheduler instance;
    return instance;
}

void Scheduler::run(dim3 grid, dim3 block, std::size_t shared_bytes, const std::function<void()>& thread) {
    if (running_) stop("A kernel cannot start another.");
    running_ = true;
    block_ = block;
    blockDim = block;
    gridDim = grid;
    n_thread_ = block.x * block.y * block.z;
    body_ = &thread;
    threads_.resize(n_thread_);
    warps_.resize((n_thread_ + all_lanes - 1) / all_lanes);
    void* shared = nullptr;
    if (posix_memalign(&shared, shared_alignment, shared_bytes) != 0) stop("No shared memory.");
    shared_memory_.reset(static_cast<std::byte*>(shared));
    for (unsigned z = 0; z < grid.z; ++z) {
        for (unsigned y = 0; y < grid.y; ++y) {
            for (unsigned x = 0; x < grid.x; ++x) {
                blockIdx = {x, y, z};
                if (shared_bytes > 0) std::memset(shared, 0xFF, shared_bytes);
                run_block();
            }
        }
    }
    running_ = false;
}

void Scheduler::run_block() {
    n_started_ = 0;
    n_ended_ = 0;
    barrier_ = {};
    for (Thread& thread : threads_) thread = {};
    for (Warp& warp : warps_) {
        warp.barrier = {};
        warp.mask = 0;
    }
    here_ = &main_;
    resume(0);
}

void Scheduler::enter(unsigned thread) {
    current_ = thread;
    const unsigned x = thread % block_.x;
    const unsigned rest = thread / block_.x;
    threadIdx = {x, rest % block_.y, rest / block_.y};
}

/// What every fiber does for ever: threads that have not begun, then whatever else can go on.
void Scheduler::carry() {
    Fiber& mine = *here_;
    for (;;) {
        while (n_started_ < n_thread_) {
            const unsigned thread = n_started_++;
            threads_[thread].fiber = &mine;
            enter(thread);
            (*body_)();
            threads_[thread].state = State::ended;
            ++n_ended_;
        }
        idle_.push_back(&mine);
        if (n_ended_ == n_thread_)
            switch_to(main_);
        else
            go_on();
    }
}

void Scheduler::begin() {
    Scheduler& mine = scheduler();
#ifdef DS_ASAN_FIBERS
    const void* bottom = nullptr;
    std::size_t size = 0;
    __sanitizer_finish_switch_fiber(nullptr, &bottom, &size);
    mine.left_->bottom = bottom;
    mine.left_->size = size;
#endif
    mine.carry();
}

bool Scheduler::can_run(unsigned t) const {
    if (t >= n_started_) return true;
    const Thread& thread = threads_[t];
    switch (thread.state) {
        case State::running: return true;
        case State::waits_for_block: return barrier_.parity != thread.parity;
        case State::waits_for_warp: return warps_[t / all_lanes].barrier.parity != thread.parity;
        case State::ended: return false;
    }
    return false;
}

/// Goes on with the next thread that can; the one that calls cannot. Its own warp comes first: warps run
/// ahead of each other as far as the block's barriers let them, so that one that is missing shows.
void Scheduler::go_on() {
    const unsigned first = current_ / all_lanes * all_lanes;
    const unsigned end = std::min(first + all_lanes, n_thread_);
    for (unsigned t = first; t < end; ++t) {
        if (t != current_ && can_run(t)) return resume(t);
    }
    for (unsigned i = 1; i < n_thread_; ++i) {
        const unsigned t = current_ + i < n_thread_ ? current_ + i : current_ + i - n_thread_;
        if (can_run(t)) return resume(t);
    }
    stuck();
}

void Scheduler::resume(unsigned t) {
    if (t < n_started_) {
        threads_[t].state = State::running;
        enter(t);
        return switch_to(*threads_[t].fiber);
    }
    // The fiber itself takes the next thread that has not begun.
    if (idle_.empty()) {
        fibers_.push_back(std::make_unique<Fiber>());
        fibers_.back()->make_stack();
        idle_.push_back(fibers_.back().get());
    }
    Fiber& fiber = *idle_.back();
    idle_.pop_back();
    switch_to(fiber);
}

void Scheduler::switch_to(Fiber& to) {
    if (&to == here_) return;
    Fiber& from = *here_;
    left_ = &from;
    here_ = &to;
#ifdef __SANITIZE_THREAD__
    if (from.memory == nullptr) from.tsan = __tsan_get_current_fiber();
#endif
    if (__builtin_setjmp(from.place.data()) == 0) {
#ifdef DS_ASAN_FIBERS
        __sanitizer_start_switch_fiber(&from.fake_stack, to.bottom, to.size);
#endif
#ifdef __SANITIZE_THREAD__
        __tsan_switch_to_fiber(to.tsan, 0);
#endif
        jump(to);
    }
#ifdef DS_ASAN_FIBERS
    __sanitizer_finish_switch_fiber(scheduler().here_->fake_stack, nullptr, nullptr);
#endif
}

void Scheduler::jump(Fiber& to) {
    if (to.memory == nullptr || to.begun) __builtin_longjmp(to.place.data(), 1);
    to.begun = true;
    getcontext(&to.first);
    to.first.uc_stack.ss_sp = to.memory + page;
    to.first.uc_stack.ss_size = stack_bytes;
    to.first.uc_link = nullptr;
    makecontext(&to.first, &Scheduler::begin, 0);
    setcontext(&to.first);
}

void Scheduler::stuck() {
    unsigned at_block = 0;
    unsigned at_warp = 0;
    for (const Thread& thread : threads_) {
        at_block += thread.state == State::waits_for_block ? 1 : 0;
        at_warp += thread.state == State::waits_for_warp ? 1 : 0;
    }
    std::fprintf(
        stderr,
        "CUDA shim: block (%u, %u, %u): %u of %u threads wait at a barrier of the block, %u at one of "
        "their warp and %u have ended; a barrier has to be reached by all.\n",
        blockIdx.x, blockIdx.y, blockIdx.z, at_block, n_thread_, at_warp, n_ended_);
    std::abort();
}

bool Scheduler::wait_for_block(bool given) {
    if (!running_) stop("There are barriers in kernels only.");
    const bool parity = barrier_.parity;
    if (barrier_.arrived == 0) any_[parity] = false;
    any_[parity] = any_[parity] || given;
    if (++barrier_.arrived == n_thread_) {
        barrier_ = {!parity, 0};
    } else {
        threads_[current_].state = State::waits_for_block;
        threads_[current_].parity = parity;
        go_on();
    }
    return any_[parity];
}

const std::uint64_t* Scheduler::exchange(unsigned mask, std::uint64_t bits) {
    if (!running_) stop("There are warp functions in kernels only.");
    Warp& warp = warps_[current_ / all_lanes];
    const unsigned lane = current_ % all_lanes;
    if ((mask >> lane & 1u) == 0) stop("A warp function was called by a lane that its mask does not name.");
    if (warp.barrier.arrived > 0 && warp.mask != mask)
        stop("Lanes of one warp called warp functions with different masks.");
    warp.mask = mask;
    const bool parity = warp.barrier.parity;
    warp.given[parity][lane] = bits;
    if (++warp.barrier.arrived == static_cast<unsigned>(std::popcount(mask))) {
        warp.barrier = {!parity, 0};
    } else {
        threads_[current_].state = State::waits_for_warp;
        threads_[current_].parity = parity;
        go_on();
    }
    return warp.given[parity];
}

}  // namespace

void run_grid(dim3 grid, dim3 block, std::size_t shared_bytes, const std::function<void()>& thread) {
    scheduler().run(grid, block, shared_bytes, thread);
}

std::byte* dynamic_shared() {
    return scheduler().shared();
}

bool wait_for_block(bool given) {
    return scheduler().wait_for_block(given);
}

const std::uint64_t* exchange(unsigned mask, std::uint64_t bits) {
    return scheduler().exchange(mask, bits);
}

unsigned lane() {
    return scheduler().current() % all_lanes;
}

std::uint64_t value_of(unsigned mask, std::uint64_t bits, unsigned from) {
    if (from >= all_lanes || (mask >> from & 1u) == 0)
        stop("A value was asked of a lane that the mask does not name.");
    return exchange(mask, bits)[from];
}

}  // namespace cuda_shim
