// std::thread: threads that are started anew for each round; the caller only joins them.

#include <thread>

#include "untouched.hpp"

int main(int argc, char** argv) {
  const untouched::shape chosen(argc, argv);
  return untouched::run(argc, argv, [&](untouched::arrival& message) {
    std::vector<std::jthread> threads;
    for (unsigned t = 0; t < chosen.threads; ++t)
      threads.emplace_back([&, t] {
        if (chosen.bound) untouched::bind_self(t);
        while (!message.over()) untouched::piece_of_work(t);
      });
  });
}
