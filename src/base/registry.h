// SPDX-License-Identifier: MIT
// A catalogue that can grow: the entries that were compiled in, and those that a program adds while
// it runs. Entries are never taken away, so a pointer to one stays good.
#pragma once

#include <map>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <utility>
#include <vector>

namespace flightdeck {

// `Entry` has a member `name`. Every function may be called from any thread.
template <typename Entry>
class Registry {
 public:
  explicit Registry(std::vector<Entry> compiled) {
    for (Entry& entry : compiled) {
      std::string name = entry.name;
      entries_.emplace(std::move(name), std::move(entry));
    }
  }

  // Returns the entry with this name, or null.
  const Entry* find(const std::string& name) const {
    const std::shared_lock<std::shared_mutex> lock(mutex_);
    const auto found = entries_.find(name);
    return found == entries_.end() ? nullptr : &found->second;
  }

  // Returns copies of all entries, ordered by name.
  std::vector<Entry> all() const {
    const std::shared_lock<std::shared_mutex> lock(mutex_);
    std::vector<Entry> entries;
    for (const auto& [name, entry] : entries_) entries.push_back(entry);
    return entries;
  }

  std::vector<std::string> names() const {
    const std::shared_lock<std::shared_mutex> lock(mutex_);
    std::vector<std::string> names;
    for (const auto& [name, entry] : entries_) names.push_back(name);
    return names;
  }

  // Adds the entry and returns null, or returns the one that has its name already.
  const Entry* add(Entry entry) {
    const std::unique_lock<std::shared_mutex> lock(mutex_);
    std::string name = entry.name;
    const auto [place, is_new] = entries_.emplace(std::move(name), std::move(entry));
    return is_new ? nullptr : &place->second;
  }

 private:
  mutable std::shared_mutex mutex_;
  std::map<std::string, Entry> entries_;  // whose nodes stay where they are
};

// Says why `name` cannot be that of an entry; empty if it can. Names are words of files, of command
// lines and of JSON, so they are made of letters, digits and underscores.
std::string fault_of_name(const std::string& name);

// Says "there is a problem 'a' already (what it is), so yours (what that is) needs another name".
std::string taken_name(const std::string& kind,
                       const std::string& name,
                       const std::string& what_is_there,
                       const std::string& what_is_new);

}  // namespace flightdeck
