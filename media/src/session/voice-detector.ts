import type { Samples } from '@parley/kernel'
import { BandWords, LowPassFilter } from '../dsp/low-pass-filter.ts'
import { VoiceActivity } from '../dsp/voice-activity.ts'
import type { CallPage } from './call-page.ts'
import type { VoiceDetection } from './media-session.ts'
import type { CoreEvent } from './session-protocol.ts'
import type { SessionRings } from './session-rings.ts'

/** Maximum of samples per `push`. */
const MAX_SAMPLES = 480

/**
 * Detects the far end's voice in received audio and reports its edges, in the ring beside the heard audio and as
 * events.
 */
export class VoiceDetector {
  readonly #activity: VoiceActivity
  readonly #filter: LowPassFilter | null
  /** Filtered audio, where there is a filter. */
  readonly #filtered: Int16Array
  readonly #ratio: number
  readonly #rings: SessionRings
  readonly #emit: (event: CoreEvent) => void

  /** `ratio`: session samples for each sample at 8 kHz. */
  constructor(
    { hangoverMs, band }: VoiceDetection,
    ratio: number,
    rings: SessionRings,
    emit: (event: CoreEvent) => void,
    { voice, band: filter }: Partial<Pick<CallPage, 'voice' | 'band'>> = {},
  ) {
    this.#activity = new VoiceActivity(hangoverMs === undefined ? {} : { hangoverMs }, voice)
    if (filter !== undefined) new BandWords(filter.state).taps = 0
    this.#filter = band === undefined ? null : new LowPassFilter(band, filter)
    this.#filtered = new Int16Array(band === undefined ? 0 : MAX_SAMPLES)
    this.#ratio = ratio
    this.#rings = rings
    this.#emit = emit
  }

  /** Whether all of its state is in the page that was given. */
  get isPaged(): boolean {
    return this.#filter === null || this.#filter.isInMemory
  }

  /**
   * Audio of 8 kHz at `position` of an 8 kHz clock, at most 480 samples; it is written to the heard ring next, as
   * `heardCount` samples of the session.
   */
  push(position: Samples, audio: Int16Array, count: Samples, heardCount: Samples): void {
    const activity = this.#activity
    const filter = this.#filter
    if (filter === null) activity.push(position, audio, 0, count)
    else {
      filter.filter(audio, 0, count, this.#filtered, 0)
      activity.push(position - filter.delay, this.#filtered, 0, count)
    }
    for (let edge = activity.take(); edge !== null; edge = activity.take()) {
      const atSample = activity.position * this.#ratio
      this.#rings.writeVoiceEdge(edge === 'voice-start', atSample, heardCount)
      this.#emit({ type: edge, atSample })
    }
  }
}
