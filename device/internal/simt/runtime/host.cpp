// The process that runs kernels for the SIMT device. It maps the device's
// memory, loads modules (shared objects made from .cu files), and obeys the
// commands that come through a pipe, in order, until the pipe closes.
//
// A block's threads ("lanes") are fibers. Those that never wait run one after
// the other on a single stack, with no more cost than a loop; a lane gets a
// stack of its own when it first waits for others.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>
#if defined(__linux__)
#include <link.h>
#endif

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "simt.hpp"
#undef assert

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
static const size_t stack_bytes = 1 << 20;
#else
static const size_t stack_bytes = 256 << 10;
#endif

typedef uint32_t u32;
typedef uint64_t u64;

// ---- context switch -----------------------------------------------------------

// simt_switch saves the callee-saved registers on the stack, stores the stack
// pointer to *save, and returns on the stack whose pointer is sp.
extern "C" void simt_switch(void **save, void *sp) __asm__("simt_switch");
#if defined(__x86_64__)
__asm__(R"(
.text
.globl simt_switch
.p2align 4
simt_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
)");
static void *fresh_stack(char *top, void (*entry)()) {
  void **s = (void **)top;
  *--s = nullptr; // entry's return address; it never returns
  *--s = (void *)entry;
  for (int i = 0; i < 6; i++) *--s = nullptr;
  return s;
}
#elif defined(__aarch64__)
__asm__(R"(
.text
.globl simt_switch
.p2align 4
simt_switch:
  sub sp, sp, #160
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x2, sp
  str x2, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #0]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
)");
static void *fresh_stack(char *top, void (*entry)()) {
  void **s = (void **)(top - 160);
  memset(s, 0, 160);
  s[11] = (void *)entry; // x30
  return s;
}
#else
#error "the SIMT device has no context switch for this processor"
#endif

// ---- launches, and how they fail -------------------------------------------------

typedef void (*Stub)(const unsigned long long *args);

struct Module {
  const char *path;
  void *(*probe)(); // address of a thread-local of the module
};

struct Kernel {
  std::string name;
  Stub stub;
  Module *module;
};

struct Launch {
  const Kernel *kernel;
  const unsigned long long *args;
  dim3 grid, block;
  u32 shared, threads;
  u64 blocks, serial;
  std::atomic<u64> next;
};

enum Mode { FORWARD, REVERSE, SHUFFLE };
static Mode order_mode;
static u64 order_seed;
static unsigned timeout_seconds = 120;
static Launch current; // written between launches only
static std::atomic<bool> in_kernel;

__thread simt::Context simt::ctx;

static char *memory_base;
static u64 memory_bytes;

// where writes "kernel k, block (..), thread (..)" into s.
static const char *where(char *s, size_t n) {
  if (!in_kernel.load()) return strncpy(s, "outside any kernel", n);
  const simt::Context &c = simt::ctx;
  snprintf(s, n, "kernel %s, block (%u,%u,%u), thread (%u,%u,%u)", current.kernel->name.c_str(), c.block.x, c.block.y,
           c.block.z, c.thread.x, c.thread.y, c.thread.z);
  return s;
}

[[noreturn]] __attribute__((format(printf, 1, 2))) static void fault(const char *format, ...) {
  char at[256], why[1024];
  va_list v;
  va_start(v, format);
  vsnprintf(why, sizeof why, format, v);
  va_end(v);
  fflush(stdout);
  fprintf(stderr, "simt: %s: %s\n", where(at, sizeof at), why);
  fflush(stderr);
  _exit(86);
}

void simt::trap(const char *why, Place p) { fault("%s:%d: %s", p.file, p.line, why); }

static void on_signal(int sig, siginfo_t *info, void *) {
  if (sig == SIGALRM) fault("still running after %u s", timeout_seconds);
  if (sig == SIGSEGV || sig == SIGBUS) {
    u64 a = (u64)info->si_addr, base = (u64)memory_base;
    if (a - base < memory_bytes) fault("%s at device memory + %#llx", strsignal(sig), (unsigned long long)(a - base));
    fault("%s at address %#llx, outside device memory", strsignal(sig), (unsigned long long)a);
  }
  fault("%s", strsignal(sig));
}

static void catch_signals() {
  struct sigaction a;
  memset(&a, 0, sizeof a);
  a.sa_sigaction = on_signal;
  a.sa_flags = SA_SIGINFO | SA_ONSTACK;
#if defined(__SANITIZE_ADDRESS__)
  const int signals[] = {SIGABRT, SIGALRM}; // the rest are the sanitizer's to report
#else
  const int signals[] = {SIGABRT, SIGALRM, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
#endif
  for (int s : signals) sigaction(s, &a, nullptr);
}

#if defined(__SANITIZE_ADDRESS__)
static void on_death() {
  char at[256];
  fprintf(stderr, "simt: %s: stopped by a sanitizer\n", where(at, sizeof at));
  fflush(stderr);
}
#endif

// Of the emulator's own work that is most: lanes come and go millions of times. These
// functions touch the memory of kernels nowhere but in steps, which are the kernels'
// code, so that the sanitizers need not look at them.
#define SIMT_OWN __attribute__((no_sanitize_address, no_sanitize_undefined))

// ---- workers ------------------------------------------------------------------------

struct Stack {
  char *base; // lowest usable address
  void *sp;
};

struct Lane {
  void *sp;     // where it waits
  Stack *stack; // null before its first instruction
};

// Group is lanes of one warp that wait at one warp-wide function.
struct Group {
  u32 mask, arrived;
  simt::Step step;
  simt::Place place;
  const char *what;
};

struct WarpState : simt::Warp {
  u32 live;
  u32 groups;
  Group group_at[32];
};

SIMT_OWN static bool same(const simt::Place &a, const simt::Place &b) { return a.line == b.line && a.file == b.file; }

struct SharedBlock {
  Module *module;
  char *base;
  size_t bytes;
};

// Copy is one that a lane has asked for and not waited for.
struct Copy {
  void *to;
  const void *from;
  u32 group;
};

struct Copies {
  std::vector<Copy> pending;
  u32 groups; // ended so far
};

struct Worker {
  Lane lanes[1024];
  Copies copies[1024];
  WarpState warps[32];
  u32 n, live;                 // threads of the block, and those that have not returned
  uint16_t ready[1024];        // ring of lanes that may go on
  u32 ready_head, ready_count;
  uint16_t order[1024];        // lanes in starting order
  u32 started;
  u32 barrier_lanes[32], barrier_count;
  simt::Place barrier_place;
  std::vector<Stack *> free_stacks;
  void *main_sp;
  Stack main_stack;
  size_t main_bytes;
  char *dynamic;
  size_t dynamic_bytes;
  std::vector<SharedBlock> shared;
  u64 random_state;

  SIMT_OWN u32 random(u32 below) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (u32)((random_state >> 32) * below >> 32);
  }

  // ---- stacks and switching

  Stack *take_stack() {
    Stack *s;
    if (free_stacks.empty()) {
      size_t page = (size_t)sysconf(_SC_PAGESIZE);
      char *m = (char *)mmap(nullptr, stack_bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (m == MAP_FAILED) fault("no memory for a thread's stack: %s", strerror(errno));
      mprotect(m, page, PROT_NONE); // overflow faults
      s = new Stack;
      s->base = m + page;
    } else {
      s = free_stacks.back();
      free_stacks.pop_back();
    }
    s->sp = fresh_stack(s->base + stack_bytes - 64, fiber_main);
    return s;
  }

  // jump goes to sp on stack to, leaving the current place in *save; with leave
  // the current stack will not be returned to.
  SIMT_OWN static void jump(void **save, void *sp, const Stack *to, size_t bytes, bool leave) {
#if defined(__SANITIZE_ADDRESS__)
    void *fake = nullptr;
    __sanitizer_start_switch_fiber(leave ? nullptr : &fake, to->base, bytes);
    simt_switch(save, sp);
    __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
#else
    (void)to, (void)bytes, (void)leave;
    simt_switch(save, sp);
#endif
  }

  SIMT_OWN void set_lane(u32 i) {
    simt::Context &c = simt::ctx;
    c.tid = i;
    if (c.block_dim.y * c.block_dim.z == 1) {
      c.thread.x = i;
    } else {
      c.thread.x = i % c.block_dim.x;
      c.thread.y = i / c.block_dim.x % c.block_dim.y;
      c.thread.z = i / (c.block_dim.x * c.block_dim.y);
    }
  }

  // next is the lane to run now: one that may go on, else one that has not
  // started; -1 if there is neither.
  SIMT_OWN int next() {
    bool fresh = started < n;
    if (order_mode == SHUFFLE) {
      if (ready_count && !(fresh && random(4) == 0)) {
        u32 i = random(ready_count), lane = ready[i];
        ready[i] = ready[--ready_count]; // the ring's head stays 0 in this mode
        return (int)lane;
      }
    } else if (ready_count) {
      u32 lane = ready[ready_head];
      ready_head = (ready_head + 1) & 1023;
      ready_count--;
      return (int)lane;
    }
    return fresh ? order[started++] : -1;
  }

  SIMT_OWN void push(u32 lane) { ready[(ready_head + ready_count++) & 1023] = (uint16_t)lane; }

  SIMT_OWN void push_warp(u32 first, u32 mask) {
    if (order_mode == REVERSE) {
      for (int i = 31; i >= 0; i--)
        if (mask >> i & 1) push(first + (u32)i);
    } else {
      for (; mask; mask &= mask - 1) push(first + (u32)__builtin_ctz(mask));
    }
  }

  // park suspends the running lane, which is in a group, at the barrier, or
  // already allowed to go on.
  SIMT_OWN void park() {
    u32 me = simt::ctx.tid;
    int t = next();
    if (t < 0) deadlock();
    if ((u32)t == me) return;
    Lane &to = lanes[t];
    set_lane((u32)t);
    if (!to.stack) {
      to.stack = take_stack();
      to.sp = to.stack->sp;
    }
    jump(&lanes[me].sp, to.sp, to.stack, stack_bytes, false);
  }

  SIMT_OWN static Worker *&self() {
    static __thread Worker *w;
    return w;
  }

  // fiber_main runs lanes that have not started, until one that waits may go on.
  static void fiber_main() {
    Worker &w = *self();
#if defined(__SANITIZE_ADDRESS__)
    const void *from;
    size_t bytes;
    __sanitizer_finish_switch_fiber(nullptr, &from, &bytes);
    if (!w.main_stack.base) {
      w.main_stack.base = (char *)from;
      w.main_bytes = bytes;
    }
#endif
    for (;;) {
      current.kernel->stub(current.args);
      u32 me = simt::ctx.tid;
      Stack *mine = w.lanes[me].stack;
      w.finish(me);
      int t = w.next();
      void *dead;
      if (t < 0) {
        if (w.live) w.deadlock();
        w.free_stacks.push_back(mine);
        jump(&dead, w.main_sp, &w.main_stack, w.main_bytes, true);
      }
      Lane &to = w.lanes[t];
      w.set_lane((u32)t);
      if (!to.stack) {
        to.stack = mine;
        continue;
      }
      w.free_stacks.push_back(mine);
      jump(&dead, to.sp, to.stack, stack_bytes, true);
    }
  }

  // ---- waiting

  SIMT_OWN void collective(simt::Step step, void *frame, u32 mask, simt::Place place, const char *what) {
    u32 me = simt::ctx.tid, lane = me & 31;
    WarpState &w = warps[me >> 5];
    if (!(mask >> lane & 1)) fault("%s:%d: %s: lane %u is not in the mask %#x it passes", place.file, place.line, what, lane, mask);
    Group *g = nullptr;
    for (u32 i = 0; i < w.groups && !g; i++)
      if (w.group_at[i].mask == mask) g = &w.group_at[i];
    if (!g) {
      g = &w.group_at[w.groups++];
      *g = Group{mask, 0, step, place, what};
    } else if (g->step != step || !same(g->place, place)) {
      fault("lanes of one warp meet at different places: %s at %s:%d and %s at %s:%d", g->what, g->place.file, g->place.line,
            what, place.file, place.line);
    }
    w.frames[lane] = frame;
    g->arrived |= 1u << lane;
    complete(me & ~31u, w, *g);
    park();
  }

  // complete lets the lanes of g go if all have arrived; it then removes g.
  SIMT_OWN bool complete(u32 first, WarpState &w, Group &g) {
    if (g.arrived != (g.mask & w.live)) return false;
    w.group = g.arrived;
    if (g.step) g.step(w);
    push_warp(first, g.arrived);
    g = w.group_at[--w.groups];
    return true;
  }

  SIMT_OWN void barrier(simt::Place place) {
    u32 me = simt::ctx.tid;
    if (live < n) fault("divergent barrier: %u of %u threads returned before %s:%d", n - live, n, place.file, place.line);
    if (!barrier_count)
      barrier_place = place;
    else if (!same(barrier_place, place))
      fault("divergent barrier: threads of one block meet at %s:%d and %s:%d", barrier_place.file, barrier_place.line, place.file, place.line);
    barrier_lanes[me >> 5] |= 1u << (me & 31);
    if (++barrier_count == n) {
      barrier_count = 0;
      u32 last = (n - 1) >> 5;
      for (u32 i = 0; i <= last; i++) {
        u32 k = order_mode == REVERSE ? last - i : i;
        push_warp(32 * k, barrier_lanes[k]);
        barrier_lanes[k] = 0;
      }
    }
    park();
  }

  void copy_async(void *to, const void *from, simt::Place place) {
    if (((u64)to | (u64)from) & 15) fault("%s:%d: an asynchronous copy between addresses that are not multiples of 16", place.file, place.line);
    memset(to, 0xA5, 16);
    Copies &c = copies[simt::ctx.tid];
    c.pending.push_back(Copy{to, from, c.groups});
  }

  void copy_wait(u32 pending) {
    Copies &c = copies[simt::ctx.tid];
    size_t done = 0;
    for (; done < c.pending.size() && c.pending[done].group + pending < c.groups; done++)
      memcpy(c.pending[done].to, c.pending[done].from, 16);
    c.pending.erase(c.pending.begin(), c.pending.begin() + done);
  }

  void finish(u32 me) {
    live--;
    if (!copies[me].pending.empty()) fault("returns with asynchronous copies under way");
    if (barrier_count)
      fault("divergent barrier: returns while %u threads wait at %s:%d", barrier_count, barrier_place.file, barrier_place.line);
    WarpState &w = warps[me >> 5];
    w.live &= ~(1u << (me & 31));
    for (u32 i = 0; i < w.groups;)
      if (!w.group_at[i].arrived || !complete(me & ~31u, w, w.group_at[i])) i++;
  }

  [[noreturn]] void deadlock() {
    std::string s;
    char line[512];
    if (barrier_count) {
      snprintf(line, sizeof line, "; %u at the barrier at %s:%d", barrier_count, barrier_place.file, barrier_place.line);
      s += line;
    }
    for (u32 i = 0; i < (n + 31) / 32; i++)
      for (u32 j = 0; j < warps[i].groups; j++) {
        const Group &g = warps[i].group_at[j];
        snprintf(line, sizeof line, "; warp %u: lanes %#x of %#x at %s at %s:%d", i, g.arrived, g.mask & warps[i].live, g.what,
                 g.place.file, g.place.line);
        s += line;
      }
    if (s.size() > 600) s.resize(600);
    fault("divergent barrier: %u of %u threads wait for ever%s", live, n, s.c_str());
  }

  // ---- blocks

  // poison_shared makes shared memory undefined: nothing survives from the block
  // before.
  void poison_shared(Module *m) {
#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__)
    SharedBlock *b = nullptr;
    for (SharedBlock &x : shared)
      if (x.module == m) b = &x;
    if (!b) {
      shared.push_back(find_shared(m));
      b = &shared.back();
    }
    if (b->bytes > 8) memset(b->base, 0xA5, b->bytes);
#else
    (void)m;
#endif
  }

#if defined(__linux__)
  static SharedBlock find_shared(Module *m) {
    m->probe(); // allocates this thread's copy
    struct Find {
      Dl_info info;
      SharedBlock found;
    } f;
    f.found = {m, nullptr, 0};
    if (!dladdr((void *)m->probe, &f.info)) return f.found;
    dl_iterate_phdr(
        [](struct dl_phdr_info *p, size_t size, void *data) {
          Find &f = *(Find *)data;
          if (size < offsetof(struct dl_phdr_info, dlpi_tls_data) + sizeof(void *) || (void *)p->dlpi_addr != f.info.dli_fbase) return 0;
          for (int i = 0; i < p->dlpi_phnum; i++)
            if (p->dlpi_phdr[i].p_type == PT_TLS && p->dlpi_tls_data) {
              f.found.base = (char *)p->dlpi_tls_data;
              f.found.bytes = p->dlpi_phdr[i].p_memsz;
            }
          return 1;
        },
        &f);
    return f.found;
  }
#endif

  void run_block(u64 index) {
    Launch &l = current;
    if (order_mode == REVERSE)
      index = l.blocks - 1 - index;
    else if (order_mode == SHUFFLE)
      index = shuffled_block(index);
    simt::Context &c = simt::ctx;
    c.block_dim = l.block;
    c.grid_dim = l.grid;
    c.block = {(u32)(index % l.grid.x), (u32)(index / l.grid.x % l.grid.y), (u32)(index / l.grid.x / l.grid.y)};
    c.thread = {0, 0, 0};
    if (l.shared != dynamic_bytes) {
      free(dynamic);
      dynamic = nullptr;
      dynamic_bytes = l.shared;
      if (l.shared && posix_memalign((void **)&dynamic, 128, l.shared)) fault("no memory for shared memory");
    }
    c.dynamic = dynamic;
    if (l.shared) memset(dynamic, 0xA5, l.shared);
    poison_shared(l.kernel->module);

    n = live = l.threads;
    ready_head = ready_count = started = barrier_count = 0;
    for (u32 i = 0; i < n; i++) {
      lanes[i].stack = nullptr;
      copies[i].groups = 0;
      order[i] = (uint16_t)(order_mode == REVERSE ? n - 1 - i : i);
    }
    if (order_mode == SHUFFLE) {
      random_state = (order_seed + 1) * 0x9E3779B97F4A7C15ull ^ (l.serial << 32) ^ (index + 1) * 0xD1B54A32D192ED03ull;
      random_state |= 1;
      for (u32 i = 0; i < 8; i++) random(2);
      for (u32 i = n; i > 1; i--) {
        u32 j = random(i);
        uint16_t t = order[i - 1];
        order[i - 1] = order[j];
        order[j] = t;
      }
    }
    for (u32 i = 0; i < n; i += 32) {
      WarpState &w = warps[i / 32];
      w.groups = 0;
      w.live = n - i >= 32 ? ~0u : (1u << (n - i)) - 1;
      barrier_lanes[i / 32] = 0;
    }
    int first = next();
    set_lane((u32)first);
    Stack *s = take_stack();
    lanes[first].stack = s;
    jump(&main_sp, s->sp, s, stack_bytes, false);
  }

  // shuffled_block is a permutation of the launch's blocks.
  static u64 shuffled_block(u64 i) {
    Launch &l = current;
    u64 step = (order_seed * 0x9E3779B97F4A7C15ull + l.serial * 2654435761u) % l.blocks + 1, a, b;
    for (;; step++) {
      for (a = l.blocks, b = step; b;) {
        u64 t = a % b;
        a = b;
        b = t;
      }
      if (a == 1) break;
    }
    return (u64)(((unsigned __int128)i * step + order_seed) % l.blocks);
  }

  void run() {
    self() = this;
    Launch &l = current;
    for (u64 i; (i = l.next.fetch_add(1)) < l.blocks;) run_block(i);
  }
};

SIMT_OWN void simt::collective(Step step, void *frame, unsigned mask, Place place, const char *what) {
  Worker::self()->collective(step, frame, mask, place, what);
}
SIMT_OWN void simt::barrier(Place place) { Worker::self()->barrier(place); }
void simt::copy_async(void *to, const void *from, Place place) { Worker::self()->copy_async(to, from, place); }
void simt::copy_commit() { Worker::self()->copies[simt::ctx.tid].groups++; }
void simt::copy_wait(unsigned pending) { Worker::self()->copy_wait(pending); }

static void signal_stack() {
#if !defined(__SANITIZE_ADDRESS__)
  stack_t s;
  memset(&s, 0, sizeof s);
  s.ss_size = 64 << 10;
  s.ss_sp = malloc(s.ss_size);
  sigaltstack(&s, nullptr);
#endif
}

// Pool is the main thread and its helpers, which share a launch's blocks.
struct Pool {
  std::mutex mutex;
  std::condition_variable go, done;
  u64 generation = 0;
  unsigned helpers = 0, busy = 0;
  Worker *main_worker = new Worker();

  void start(unsigned threads) {
    helpers = threads - 1;
    for (unsigned i = 0; i < helpers; i++) std::thread([this] { help(); }).detach();
  }

  void help() {
    signal_stack();
    Worker *w = new Worker();
    u64 seen = 0;
    std::unique_lock<std::mutex> lock(mutex);
    for (;;) {
      go.wait(lock, [&] { return generation != seen; });
      seen = generation;
      lock.unlock();
      w->run();
      lock.lock();
      if (--busy == 0) done.notify_one();
    }
  }

  void run() {
    // Waking a helper costs more than a small launch.
    bool shared = helpers && current.blocks > 1 && current.blocks * current.threads >= 1024;
    if (shared) {
      std::lock_guard<std::mutex> lock(mutex);
      busy = helpers;
      generation++;
      go.notify_all();
    }
    main_worker->run();
    if (shared) {
      std::unique_lock<std::mutex> lock(mutex);
      done.wait(lock, [&] { return busy == 0; });
    }
  }
};

// ---- commands --------------------------------------------------------------------------

enum { COMMANDS = 3, REPLIES = 4, MEMORY = 5 }; // file descriptors
enum Op : u32 { LOAD = 1, LAUNCH, FILL, COPY, WRITE, POISON, UNPOISON, SYNC };

static bool read_all(void *to, size_t n) {
  for (char *p = (char *)to; n;) {
    ssize_t k = read(COMMANDS, p, n);
    if (k < 0 && errno == EINTR) continue;
    if (k <= 0) return false;
    p += k;
    n -= (size_t)k;
  }
  return true;
}

static void reply(u32 status, const void *data, size_t n) {
  std::string s((const char *)&status, 4);
  u32 len = (u32)n;
  s.append((const char *)&len, 4).append((const char *)data, n);
  for (size_t at = 0; at < s.size();) {
    ssize_t k = write(REPLIES, s.data() + at, s.size() - at);
    if (k < 0 && errno == EINTR) continue;
    if (k <= 0) _exit(0);
    at += (size_t)k;
  }
}

static std::vector<Kernel *> kernels;

// load opens a shared object (the first of the payload's strings) and finds the
// kernels named by the other strings; it answers with the first one's number.
static void load(const std::vector<char> &payload) {
  const char *p = payload.data(), *end = p + payload.size();
  void *so = dlopen(p, RTLD_NOW | RTLD_LOCAL);
  if (!so) {
    const char *e = dlerror();
    return reply(1, e, strlen(e));
  }
  Module *m = new Module{strdup(p), (void *(*)())dlsym(so, "simt_probe")};
  std::vector<Kernel *> found;
  for (p += strlen(p) + 1; p < end; p += strlen(p) + 1) {
    Stub stub = (Stub)dlsym(so, (std::string("simt_stub_") + p).c_str());
    if (!stub || !m->probe) {
      std::string e = std::string(m->path) + " has no kernel " + p;
      return reply(1, e.data(), e.size());
    }
    found.push_back(new Kernel{p, stub, m});
  }
  u64 first = kernels.size();
  kernels.insert(kernels.end(), found.begin(), found.end());
  reply(0, &first, 8);
}

static void launch(Pool &pool, const u64 *a, size_t words) {
  static u64 serial;
  if (words < 8 || a[0] >= kernels.size()) fault("bad launch command");
  current.kernel = kernels[a[0]];
  current.grid = {(u32)a[1], (u32)a[2], (u32)a[3]};
  current.block = {(u32)a[4], (u32)a[5], (u32)a[6]};
  current.shared = (u32)a[7];
  current.args = (const unsigned long long *)(a + 8);
  current.threads = current.block.x * current.block.y * current.block.z;
  current.blocks = (u64)current.grid.x * current.grid.y * current.grid.z;
  current.serial = serial++;
  current.next = 0;
  in_kernel = true;
  alarm(timeout_seconds);
  pool.run();
  alarm(0);
  in_kernel = false;
}

static void fill(u64 at, u64 bytes, u32 word) {
  u32 *p = (u32 *)at;
  for (u64 i = 0; i < bytes / 4; i++) p[i] = word;
}

// Device memory lies between stretches that may not be touched, so that wild
// indices fault.
static void map_memory() {
  const u64 guard = 1ull << 30;
  off_t size = lseek(MEMORY, 0, SEEK_END);
  if (size <= 0) fault("no device memory to map");
  memory_bytes = (u64)size;
  char *all = (char *)mmap(nullptr, memory_bytes + 2 * guard, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED) fault("cannot reserve address space: %s", strerror(errno));
  memory_base = all + guard;
  if (mmap(memory_base, memory_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, MEMORY, 0) == MAP_FAILED)
    fault("cannot map device memory: %s", strerror(errno));
#if defined(__SANITIZE_ADDRESS__)
  __asan_poison_memory_region(memory_base, memory_bytes);
#endif
}

// watch ends the process when the other end is gone, even in mid-kernel.
static void watch() {
  struct pollfd p = {COMMANDS, 0, 0};
  for (;;) {
    if (poll(&p, 1, -1) < 0 && errno != EINTR) return;
    if (p.revents & (POLLHUP | POLLERR)) _exit(0);
  }
}

int main(int argc, char **argv) {
  // argv: order (forward, reverse, shuffle), seed, threads, timeout
  if (argc != 5) return fprintf(stderr, "simt: started by hand\n"), 2;
  order_mode = !strcmp(argv[1], "reverse") ? REVERSE : !strcmp(argv[1], "shuffle") ? SHUFFLE : FORWARD;
  order_seed = strtoull(argv[2], nullptr, 10);
  unsigned threads = (unsigned)atoi(argv[3]);
  timeout_seconds = (unsigned)atoi(argv[4]);
  setvbuf(stdout, nullptr, _IOLBF, 0);
  signal_stack();
  catch_signals();
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_set_death_callback(on_death);
#endif
  map_memory();
  u64 base = (u64)memory_base;
  reply(0, &base, 8);
  std::thread(watch).detach();
  Pool pool;
  pool.start(threads);
  std::vector<char> payload;
  for (;;) {
    u32 head[2];
    if (!read_all(head, sizeof head)) _exit(0);
    payload.resize(head[1]);
    if (!read_all(payload.data(), payload.size())) _exit(0);
    const u64 *a = (const u64 *)payload.data();
    switch (head[0]) {
    case LOAD: load(payload); break;
    case LAUNCH: launch(pool, a, payload.size() / 8); break;
    case FILL: fill(a[0], a[1], (u32)a[2]); break;
    case COPY: memcpy((void *)a[0], (const void *)a[1], a[2]); break;
    case WRITE: memcpy((void *)a[0], a + 1, payload.size() - 8); break;
#if defined(__SANITIZE_ADDRESS__)
    case POISON: __asan_poison_memory_region((void *)a[0], a[1]); break;
    case UNPOISON: __asan_unpoison_memory_region((void *)a[0], a[1]); break;
#else
    case POISON:
    case UNPOISON: break;
#endif
    case SYNC: reply(0, nullptr, 0); break;
    default: fault("unknown command %u", head[0]);
    }
  }
}
