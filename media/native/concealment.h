// What is heard where packets are missing: Concealment (concealment.ts) and PitchSearch (pitch-search.ts), bit for bit.
#ifndef PARLEY_MEDIA_CONCEALMENT_H
#define PARLEY_MEDIA_CONCEALMENT_H

#include <cstddef>
#include <cstdint>

#include "call_page.h"

namespace parley {

/** Concealment of one call. Made anew for each use: its numbers are those of the page. */
class Concealment {
 public:
  explicit Concealment(CallPage* page) : page_(page) {}

  /** Whether the page holds a state that TypeScript may have written; nothing else may be called otherwise. */
  bool is_valid() const;
  /** Takes samples of a received packet. After a gap it blends their beginning with the concealment, in place. */
  void good(int16_t* samples, size_t count);
  /** Writes samples that continue what was heard; returns how many of them come before the mute. */
  size_t conceal(int16_t* to, size_t count);
  /** Writes silence; after sound, its first 3.75 ms decay. */
  void silence(int16_t* to, size_t count);
  /** The next received samples do not continue the last ones. */
  void join();

 private:
  CallPage* page_;

  void begin();
  /** Appends what was heard to the history. */
  void remember(const int16_t* samples, size_t count);
  int next_sample();
  double repeated(int periods, int phase) const;
};

/** Where the oldest sample of the history is, and the next one will be. */
const int16_t* oldest_heard(const CallPage& page);

}  // namespace parley

#endif
