#include "tuner/code_objects.hpp"

namespace hone::tuner {

void CodeObjects::serve(const std::string& element_type, const std::string& layout) {
  if (element_type == element_type_ && layout == layout_) return;
  settle();
  tags_.clear();
  objects_.clear();
  element_type_ = element_type;
  layout_ = layout;
}

void CodeObjects::request(const db::Configuration& configuration, const db::Id& id) {
  if (!tags_.try_emplace(id, next_tag_).second) return;
  objects_[next_tag_].configuration = id;
  queue_.submit(next_tag_++, compile_job(family_, device_, configuration, element_type_, layout_));
}

std::shared_ptr<const Compiled> CodeObjects::find(const db::Id& configuration) {
  receive(queue_.take());
  const auto tag = tags_.find(configuration);
  return tag == tags_.end() ? nullptr : objects_.at(tag->second).compiled;
}

void CodeObjects::wait(double seconds) {
  receive(queue_.wait(seconds));
}

void CodeObjects::settle() {
  for (const std::uint64_t tag : queue_.forget_queued()) {
    tags_.erase(objects_.at(tag).configuration);
    objects_.erase(tag);
  }
  while (!idle()) wait(1);
}

void CodeObjects::receive(std::vector<FinishedJob> finished) {
  compiled_ += static_cast<std::int64_t>(finished.size());
  for (FinishedJob& job : finished) objects_.at(job.tag).compiled = std::move(job.compiled);
}

}  // namespace hone::tuner
