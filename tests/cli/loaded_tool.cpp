// SPDX-License-Identifier: MIT
// Preloaded into the tool by loaded_tool.py: waits in front of main() and forks a process for each
// command. Loading LibTorch takes 0.4 s of processor time, and tests start the tool several
// hundred times.
//
// A process of a fork goes on into main() with the words, the folder, the environment and the files
// of its command, after the constructors of shared libraries and before those of the program.
// /proc/self/cmdline tells its words.
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <iostream>
#include <linux/prctl.h>
#include <string>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

// Names the socket on which commands come.
constexpr const char* kSocket = "FLIGHTDECK_LOADED_TOOL_SOCKET";

constexpr int kFiles =
    4;  // standard input, output and error, and where its process and status are told

struct Order {
  std::string folder;
  std::vector<std::string> words;
  std::vector<std::string> environment;
  int files[kFiles];
};

bool read_all(int file, void* into, size_t size) {
  auto* at = static_cast<char*>(into);
  while (size > 0) {
    const ssize_t got = read(file, at, size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    size -= static_cast<size_t>(got);
  }
  return true;
}

void tell(int file, int32_t number) {
  if (write(file, &number, sizeof number) != sizeof number) _exit(1);
}

// False at the end: the test is over.
bool receive(int socket, Order& order) {
  uint32_t size = 0;
  iovec part = {&size, sizeof size};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof order.files)];
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  if (recvmsg(socket, &message, MSG_WAITALL) != sizeof size) return false;
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_len != CMSG_LEN(sizeof order.files)) return false;
  std::memcpy(order.files, CMSG_DATA(header), sizeof order.files);

  // The folder, the number of words, the words, the environment, each with a zero behind it.
  std::string text(size, '\0');
  if (!read_all(socket, text.data(), size)) return false;
  std::vector<std::string> parts;
  for (size_t at = 0; at < text.size(); at += parts.back().size() + 1)
    parts.emplace_back(&text[at]);
  const auto words = parts.begin() + 2;
  const auto variables = words + std::atoi(parts[1].c_str());
  order.folder = parts[0];
  order.words.assign(words, variables);
  order.environment.assign(variables, parts.end());
  return true;
}

// In memory that stays, with a null pointer behind.
std::vector<char*>& pointers(std::vector<std::string>& texts) {
  auto* all = new std::vector<char*>;
  for (std::string& text : texts) all->push_back(text.data());
  all->push_back(nullptr);
  return *all;
}

// Makes /proc/self/cmdline tell these words. The kernel wants all that it knows of the memory, as
// it stands.
bool show_words(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text.append(word.c_str(), word.size() + 1);
  void* place =
      mmap(nullptr, text.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (place == MAP_FAILED) return false;
  std::memcpy(place, text.data(), text.size());

  char stat[4096] = {};
  const int file = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
  const bool is_read = read(file, stat, sizeof stat - 1) > 0;
  close(file);
  if (!is_read) return false;
  std::vector<uint64_t> fields(3, 0);  // counted from one in proc(5); these are no numbers
  char* at = std::strrchr(stat, ')');
  if (at == nullptr || std::strlen(at) < 3) return false;
  at += 3;  // past the state, which is a letter
  while (*at != '\0' && *at != '\n') {
    char* end = at;
    fields.push_back(std::strtoull(at, &end, 10));
    if (end == at) return false;
    at = end;
  }
  if (fields.size() < 51) return false;
  const auto field = [&](size_t number) { return fields[number - 1]; };
  prctl_mm_map map = {};
  map.start_code = field(26);
  map.end_code = field(27);
  map.start_stack = field(28);
  map.start_data = field(45);
  map.end_data = field(46);
  map.start_brk = field(47);
  map.brk = reinterpret_cast<uint64_t>(sbrk(0));
  map.arg_start = reinterpret_cast<uint64_t>(place);
  map.arg_end = map.arg_start + text.size();
  map.env_start = field(50);
  map.env_end = field(51);
  map.exe_fd = static_cast<uint32_t>(-1);
  // Not prctl(): another preloaded library may stand in its place.
  return syscall(SYS_prctl, PR_SET_MM, PR_SET_MM_MAP, &map, sizeof map, 0) == 0;
}

// Becomes the process of a command. Returns in it alone; the others end.
bool become(Order& order, int socket) {
  const int told = order.files[kFiles - 1];
  std::signal(SIGCHLD, SIG_DFL);
  const pid_t process = fork();
  if (process != 0) {  // its parent, which knows how it ended
    for (int k = 0; k + 1 < kFiles; ++k) close(order.files[k]);
    close(socket);
    tell(told, process);
    int status = 0;
    while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
    }
    tell(told, WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
    _exit(0);
  }
  for (int k = 0; k + 1 < kFiles; ++k) dup2(order.files[k], k);
  for (const int file : order.files) close(file);
  close(socket);
  if (chdir(order.folder.c_str()) != 0 || !show_words(order.words)) _exit(125);
  environ = pointers(order.environment).data();
  // Preloaded too (faults/faulty_system.h), where it fails on demand.
  using SetFaults = void (*)(const char*);
  if (const auto set = reinterpret_cast<SetFaults>(dlsym(RTLD_DEFAULT, "flightdeck_set_faults"))) {
    set(std::getenv("FLIGHTDECK_FAULTS"));
  }
  return true;
}

// Returns in the process of a command.
void wait_for_commands(int socket, const std::vector<std::string>& own_words, Order& order) {
  // Tells that it waits, and that this system lets it show words.
  if (!show_words(own_words) || write(socket, "", 1) != 1) _exit(125);
  std::signal(SIGCHLD, SIG_IGN);  // nobody waits for the parents
  while (receive(socket, order)) {
    if (fork() == 0 && become(order, socket)) return;
    for (const int file : order.files) close(file);
  }
  _exit(0);
}

int (*program_main)(int, char**, char**) = nullptr;
int program_status = 0;

int main_of_program(int argc, char** argv, char** variables) {
  on_exit([](int status, void*) { program_status = status; }, nullptr);
  return program_main(argc, argv, variables);
}

// Runs at exit after all of the program's own, in place of what the libraries do: LibTorch takes
// 0.1 s to forget its operators one by one.
void end_without_libraries() {
  std::cout.flush();
  std::fflush(nullptr);
  _exit(program_status);
}

}  // namespace

extern "C" int __libc_start_main(int (*main)(int, char**, char**),
                                 int argc,
                                 char** argv,
                                 void (*init)(),
                                 void (*fini)(),
                                 void (*end_libraries)(),
                                 void* stack_end) {
  const auto begin =
      reinterpret_cast<decltype(&__libc_start_main)>(dlsym(RTLD_NEXT, "__libc_start_main"));
  const char* socket = std::getenv(kSocket);
  if (socket == nullptr) return begin(main, argc, argv, init, fini, end_libraries, stack_end);
  auto* order = new Order;
  wait_for_commands(std::atoi(socket), {argv, argv + argc}, *order);
  program_main = main;
  return begin(main_of_program,
               static_cast<int>(order->words.size()),
               pointers(order->words).data(),
               init,
               fini,
               end_without_libraries,
               stack_end);
}
