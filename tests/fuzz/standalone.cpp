// Runs a fuzz target without libFuzzer: every file of the corpus, then mutations of them, always
// the same ones.   TARGET CORPUS_DIRECTORY [MUTATIONS]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <vector>

#include "aurora/core/random.hpp"
#include "fuzz.hpp"

namespace {

using Bytes = std::vector<std::uint8_t>;

void mutate(Bytes& bytes, const std::vector<Bytes>& corpus, aurora::Stream& stream) {
  const auto place = [&](std::size_t size) {
    return static_cast<std::ptrdiff_t>(stream.below(size + 1));
  };
  switch (stream.below(6)) {
    case 0:  // flip a bit
      if (!bytes.empty())
        bytes[stream.below(bytes.size())] ^= static_cast<std::uint8_t>(1U << stream.below(8));
      break;
    case 1:  // another byte
      if (!bytes.empty())
        bytes[stream.below(bytes.size())] = static_cast<std::uint8_t>(stream.below(256));
      break;
    case 2:  // cut
      bytes.resize(stream.below(bytes.size() + 1));
      break;
    case 3:  // insert a byte
      bytes.insert(bytes.begin() + place(bytes.size()),
                   static_cast<std::uint8_t>(stream.below(256)));
      break;
    case 4: {  // leave a piece out
      const auto a = place(bytes.size());
      const auto b = place(bytes.size());
      bytes.erase(bytes.begin() + std::min(a, b), bytes.begin() + std::max(a, b));
      break;
    }
    default: {  // a piece of another file
      const Bytes& other = corpus[stream.below(corpus.size())];
      const auto a = place(other.size());
      const auto b = place(other.size());
      bytes.insert(bytes.begin() + place(bytes.size()), other.begin() + std::min(a, b),
                   other.begin() + std::max(a, b));
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s CORPUS_DIRECTORY [MUTATIONS]\n", argv[0]);
    return 2;
  }
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1]))
    files.push_back(entry.path());
  std::ranges::sort(files);
  std::vector<Bytes> corpus;
  for (const auto& file : files) {
    std::ifstream in(file, std::ios::binary);
    corpus.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    LLVMFuzzerTestOneInput(corpus.back().data(), corpus.back().size());
  }
  if (corpus.empty()) {
    std::fprintf(stderr, "%s: the corpus is empty\n", argv[1]);
    return 1;
  }
  const int mutations = argc > 2 ? std::atoi(argv[2]) : 2000;
  for (int n = 0; n < mutations; ++n) {
    aurora::Stream stream(1, aurora::Purpose::user, static_cast<std::uint32_t>(n));
    Bytes bytes = corpus[stream.below(corpus.size())];
    for (std::uint64_t count = 1 + stream.below(4); count > 0; --count)
      mutate(bytes, corpus, stream);
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  }
  std::printf("%zu files and %d mutations: only errors of ours\n", corpus.size(), mutations);
}
