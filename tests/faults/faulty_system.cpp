// SPDX-License-Identifier: MIT
#include "faults/faulty_system.h"

#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <sstream>
#include <string>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

namespace {

enum Call { kOpen, kWrite, kSync, kClose, kRename, kUnlink, kCalls };
constexpr const char* kNames[kCalls] = {"open", "write", "sync", "close", "rename", "unlink"};
constexpr int kKill = -1;

struct Faults {
  std::string under, match, trace;
  long first[kCalls] = {}, last[kCalls] = {};  // 0: never
  int error[kCalls] = {};
  bool is_readonly = false, is_limited = false, is_orphan = false;
  long clock_at = 0, clock_by = 0;
  std::atomic<long> room{0}, counted[kCalls] = {}, readings{0};
};

Faults* faults = nullptr;

template <typename Function>
Function real(Function, const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}
#define REAL(name) static const auto real_##name = real(&::name, #name)

[[noreturn]] void refuse(const std::string& word) {
  std::fprintf(stderr, "faults: '%s' is no fault\n", word.c_str());
  std::abort();
}

int error_of(const std::string& name) {
  if (name == "kill") return kKill;
  if (name == "ENOSPC") return ENOSPC;
  if (name == "EDQUOT") return EDQUOT;
  if (name == "EIO") return EIO;
  if (name == "EACCES") return EACCES;
  if (name == "EROFS") return EROFS;
  refuse(name);
}

void add_call(Faults& all, const std::string& key, const std::string& value) {
  const size_t at = key.find('@');
  for (int call = 0; call < kCalls; ++call) {
    if (key.substr(0, at) != kNames[call]) continue;
    all.first[call] = std::atol(key.c_str() + at + 1);
    all.last[call] = key.back() == '+' ? LONG_MAX : all.first[call];
    all.error[call] = error_of(value);
    return;
  }
  refuse(key);
}

void add(Faults& all, const std::string& word) {
  const size_t equals = word.find('=');
  const std::string key = word.substr(0, equals);
  const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
  if (key == "under") {
    all.under = value;
  } else if (key == "match") {
    all.match = value;
  } else if (key == "trace") {
    all.trace = value;
  } else if (key == "readonly") {
    all.is_readonly = true;
  } else if (key == "orphan") {
    all.is_orphan = true;
  } else if (key == "full") {
    all.is_limited = true;
    all.room = std::atol(value.c_str());
  } else if (key == "clock") {
    all.clock_by = std::atol(value.c_str());
    all.clock_at = std::atol(value.c_str() + value.find('@') + 1);
  } else if (key.find('@') != std::string::npos) {
    add_call(all, key, value);
  } else {
    refuse(word);
  }
}

__attribute__((constructor)) void read_environment() {
  if (const char* text = std::getenv("FLIGHTDECK_FAULTS")) flightdeck_set_faults(text);
}

bool concerns(const std::string& path) {
  return faults != nullptr && !faults->under.empty() && path.rfind(faults->under, 0) == 0;
}

std::string absolute(const char* path) {
  if (path[0] == '/') return path;
  char folder[PATH_MAX] = "";
  return ::getcwd(folder, sizeof folder) == nullptr ? path : std::string(folder) + "/" + path;
}

std::string path_of(int file) {
  const std::string link = "/proc/self/fd/" + std::to_string(file);
  char path[PATH_MAX];
  const ssize_t size = ::readlink(link.c_str(), path, sizeof path);
  return size <= 0 ? "" : std::string(path, size_t(size));
}

void trace(Call call, const std::string& path, size_t bytes) {
  const int file = int(::syscall(SYS_openat,
                                 AT_FDCWD,
                                 faults->trace.c_str(),
                                 O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
                                 0644));
  const std::string line =
      std::string(kNames[call]) + " " + std::to_string(bytes) + " " + path + "\n";
  ::syscall(SYS_write, file, line.data(), line.size());
  ::syscall(SYS_close, file);
}

// 0, the error that the call fails with, or kKill.
int fault_of(Call call, const std::string& path, size_t bytes = 0) {
  if (!concerns(path)) return 0;
  if (faults->is_readonly && call != kClose && call != kSync) return EROFS;
  if (path.find(faults->match) == std::string::npos) return 0;
  if (!faults->trace.empty()) trace(call, path, bytes);
  const long k = ++faults->counted[call];
  return k >= faults->first[call] && k <= faults->last[call] ? faults->error[call] : 0;
}

[[noreturn]] void die() {
  for (;;) ::kill(::getpid(), SIGKILL);
}

// True: the call is not made.
bool is_refused(Call call, const std::string& path) {
  const int fault = fault_of(call, path);
  if (fault == kKill) die();
  if (fault != 0) errno = fault;
  return fault != 0;
}

// The bytes that a write may take; -1: it fails.
ssize_t allowed(int file, size_t bytes) {
  if (faults == nullptr) return ssize_t(bytes);
  const std::string path = path_of(file);
  const int fault = fault_of(kWrite, path, bytes);
  if (fault == kKill) return ssize_t(bytes / 2);  // and then
  if (fault != 0) {
    errno = fault;
    return -1;
  }
  if (!faults->is_limited || !concerns(path)) return ssize_t(bytes);
  const long before = faults->room.fetch_sub(long(bytes));
  if (before >= long(bytes)) return ssize_t(bytes);
  faults->room = 0;
  if (before > 0) return before;
  errno = ENOSPC;
  return -1;
}

bool is_last_write() {
  return faults != nullptr && faults->error[kWrite] == kKill &&
         faults->counted[kWrite] >= faults->first[kWrite] && faults->first[kWrite] > 0;
}

template <typename Write>
ssize_t limited(int file, size_t bytes, Write write) {
  const ssize_t count = allowed(file, bytes);
  if (count < 0) return -1;
  const ssize_t written = write(size_t(count));
  if (is_last_write()) die();
  return written;
}

bool is_for_writing(int flags) { return (flags & (O_WRONLY | O_RDWR | O_CREAT)) != 0; }

bool is_open_refused(const std::string& path, int flags) {
  if (faults == nullptr || !is_for_writing(flags)) return false;
  return is_refused(kOpen, path);
}

// Also where the clock has a second function.
void shift(clockid_t clock, long& seconds) {
  if (faults == nullptr || faults->clock_at == 0 || clock != CLOCK_REALTIME) return;
  if (++faults->readings >= faults->clock_at) seconds += faults->clock_by;
}

mode_t mode_of(int flags, va_list more) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? mode_t(va_arg(more, int)) : 0;
}

}  // namespace

extern "C" {

void flightdeck_set_faults(const char* text) {
  delete faults;
  faults = nullptr;
  if (text == nullptr || *text == '\0') return;
  auto* all = new Faults;
  std::istringstream words(text);
  for (std::string word; words >> word;) add(*all, word);
  faults = all;
}

int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = mode_of(flags, more);
  va_end(more);
  if (is_open_refused(absolute(path), flags)) return -1;
  return int(::syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

int open64(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = mode_of(flags, more);
  va_end(more);
  return ::open(path, flags, mode);
}

ssize_t write(int file, const void* bytes, size_t count) {
  return limited(file, count, [&](size_t n) { return ::syscall(SYS_write, file, bytes, n); });
}

ssize_t pwrite(int file, const void* bytes, size_t count, off_t offset) {
  return limited(
      file, count, [&](size_t n) { return ::syscall(SYS_pwrite64, file, bytes, n, offset); });
}

ssize_t pwrite64(int file, const void* bytes, size_t count, off64_t offset) {
  return ::pwrite(file, bytes, count, offset);
}

// One vector is one write: what the callers at hand do with more is seen by write.
ssize_t writev(int file, const struct iovec* parts, int count) {
  size_t bytes = 0;
  for (int k = 0; k < count; ++k) bytes += parts[k].iov_len;
  const ssize_t most = allowed(file, bytes);
  if (most < 0) return -1;
  if (size_t(most) == bytes) return ::syscall(SYS_writev, file, parts, count);
  const size_t first = size_t(most) < parts[0].iov_len ? size_t(most) : parts[0].iov_len;
  const ssize_t written = ::syscall(SYS_write, file, parts[0].iov_base, first);
  if (is_last_write()) die();
  return written;
}

int fsync(int file) {
  if (faults != nullptr && is_refused(kSync, path_of(file))) return -1;
  return int(::syscall(SYS_fsync, file));
}

int fdatasync(int file) {
  if (faults != nullptr && is_refused(kSync, path_of(file))) return -1;
  return int(::syscall(SYS_fdatasync, file));
}

// The file is closed all the same, as on Linux.
int close(int file) {
  const int flags = faults == nullptr ? -1 : int(::syscall(SYS_fcntl, file, F_GETFL));
  const bool is_ours = flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
  const int fault = is_ours ? fault_of(kClose, path_of(file)) : 0;
  if (fault == kKill) die();
  const int result = int(::syscall(SYS_close, file));
  if (fault == 0) return result;
  errno = fault;
  return -1;
}

int rename(const char* from, const char* to) noexcept {
  if (faults != nullptr && is_refused(kRename, absolute(to))) return -1;
  return int(::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

int unlink(const char* path) noexcept {
  if (faults != nullptr && is_refused(kUnlink, absolute(path))) return -1;
  return int(::syscall(SYS_unlinkat, AT_FDCWD, path, 0));
}

int mkdir(const char* path, mode_t mode) noexcept {
  if (concerns(absolute(path)) && faults->is_readonly) {
    errno = EROFS;
    return -1;
  }
  return int(::syscall(SYS_mkdirat, AT_FDCWD, path, mode));
}

int access(const char* path, int mode) noexcept {
  if (concerns(absolute(path)) && faults->is_readonly && (mode & W_OK) != 0) {
    errno = EROFS;
    return -1;
  }
  return int(::syscall(SYS_faccessat, AT_FDCWD, path, mode));
}

int prctl(int option, ...) noexcept {
  va_list more;
  va_start(more, option);
  const unsigned long value = va_arg(more, unsigned long);
  va_end(more);
  if (faults != nullptr && faults->is_orphan && option == PR_SET_PDEATHSIG) {
    const pid_t parent = ::getppid();
    ::kill(parent, SIGKILL);
    while (::getppid() == parent) ::sched_yield();
  }
  return int(::syscall(SYS_prctl, option, value, 0, 0, 0));
}

int clock_gettime(clockid_t clock, struct timespec* time) noexcept {
  REAL(clock_gettime);
  const int result = real_clock_gettime(clock, time);
  shift(clock, time->tv_sec);
  return result;
}

int gettimeofday(struct timeval* time, void* zone) noexcept {
  REAL(gettimeofday);
  const int result = real_gettimeofday(time, zone);
  shift(CLOCK_REALTIME, time->tv_sec);
  return result;
}

time_t time(time_t* place) noexcept {
  struct timespec now = {};
  ::clock_gettime(CLOCK_REALTIME, &now);
  if (place != nullptr) *place = now.tv_sec;
  return now.tv_sec;
}

}  // extern "C"
