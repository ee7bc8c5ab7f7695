import { msToSamples, NARROWBAND } from '@parley/kernel'
import { SkewWords } from '../dsp/clock-skew.ts'
import { type ConcealmentMemory, ConcealmentWords } from '../dsp/concealment.ts'
import { BandWords, type LowPassMemory, MOST_TAPS } from '../dsp/low-pass-filter.ts'
import { PITCH_HISTORY_MS } from '../dsp/pitch-search.ts'
import { type StreamMemory, StreamWords } from '../dsp/receive-stream.ts'
import { REORDER_SLOTS, ReorderWords } from '../dsp/reorder-buffer.ts'
import { ClockWords } from '../dsp/source-clock.ts'
import { VOICE_FRAME, type VoiceMemory, VoiceWords } from '../dsp/voice-activity.ts'
import { CueWords, DECIMATED_WINDOW } from '../dsp/voice-cues.ts'
import { wordsClass } from '../page/words.ts'
import { ReceptionWords } from '../rtp/reception-statistics.ts'
import { ReportWords } from '../rtp/rtcp-scheduler.ts'
import { SequenceWords } from '../rtp/sequence.ts'
import { REPLAY_WINDOW_WORDS } from '../srtp/replay-window.ts'
import { IntervalWords } from './reception-intervals.ts'
import { SessionCounters } from './session-statistics.ts'
import { WatchdogWords } from './silence-watchdog.ts'
import { LatchWords } from './source-latch.ts'

/**
 * `ready`: the native path may process regular packets; `advances`: it may deliver the audio that is due. `ssrc`: -1 before the first
 * packet.
 */
export const InboundWords = wordsClass(
  'ready',
  'advances',
  'openedAtMs',
  'ssrc',
  'hearingUntilMs',
  'heardStarted',
  'detectsVoice',
  'clockRate',
)

/**
 * `ready`: the native path may compose packets of audio. `law`: of the codec, see `G711Law`. `end`: position after the audio of
 * the last packet.
 */
export const OutboundWords = wordsClass(
  'ready',
  'law',
  'ssrc',
  'timestampBase',
  'payloadType',
  'frameSamples',
  'sequence',
  'end',
  'resuming',
  'playing',
  'sinceProgress',
)

const PAYLOAD_TYPES = 128

/** The words of a page in their order, as `CallPage` in `media/native/call_page.h` has them. */
export const PAGE_WORDS = [
  InboundWords,
  OutboundWords,
  IntervalWords,
  ReportWords,
  LatchWords,
  ReceptionWords,
  SequenceWords,
  SessionCounters,
  WatchdogWords,
  StreamWords,
  ClockWords,
  SkewWords,
  ConcealmentWords,
  ReorderWords,
  SequenceWords,
  VoiceWords,
  CueWords,
  BandWords,
].map(({ names }) => names)

/**
 * The state of one call that its core and the native media path share: what a regular packet changes. It is shared memory
 * because that cannot be detached; only the call's media thread uses it.
 */
export class CallPage {
  readonly memory: SharedArrayBuffer
  readonly inbound: Float64Array
  readonly outbound: Float64Array
  readonly intervals: Float64Array
  readonly reports: Float64Array
  readonly latch: Float64Array
  readonly reception: Float64Array
  readonly sequence: Float64Array
  readonly counters: Float64Array
  readonly watchdog: Float64Array
  readonly stream: StreamMemory
  /** Replay windows of the source that is heard and of our own. */
  readonly opened: Float64Array
  readonly sealed: Float64Array
  readonly voice: VoiceMemory
  /** The low-pass before voice activity. */
  readonly band: LowPassMemory
  /** Which G.711 (`G711Law`) each payload type is. */
  readonly laws: Uint8Array

  constructor() {
    const cut = new Cutter(new SharedArrayBuffer(PAGE_BYTES))
    this.memory = cut.memory
    this.inbound = cut.words(InboundWords)
    this.outbound = cut.words(OutboundWords)
    this.intervals = cut.words(IntervalWords)
    this.reports = cut.words(ReportWords)
    this.latch = cut.words(LatchWords)
    this.reception = cut.words(ReceptionWords)
    this.sequence = cut.words(SequenceWords)
    this.counters = cut.words(SessionCounters)
    this.watchdog = cut.words(WatchdogWords)
    const state = cut.words(StreamWords)
    const clock = cut.words(ClockWords)
    const skew = cut.words(SkewWords)
    const concealed = cut.words(ConcealmentWords)
    const reorder = cut.words(ReorderWords)
    const sequence = cut.words(SequenceWords)
    const seen = cut.float64(REORDER_SLOTS)
    this.opened = cut.float64(REPLAY_WINDOW_WORDS)
    this.sealed = cut.float64(REPLAY_WINDOW_WORDS)
    const voice = cut.words(VoiceWords)
    const cues = cut.words(CueWords)
    const frame = cut.float32(VOICE_FRAME)
    const last = cut.float32(VOICE_FRAME)
    this.voice = { state: voice, frame, cues: { state: cues, last, decimated: cut.float32(DECIMATED_WINDOW) } }
    this.band = { state: cut.words(BandWords), taps: cut.float64(MOST_TAPS), history: cut.int16(MOST_TAPS) }
    this.laws = cut.uint8(PAYLOAD_TYPES)
    const source = cut.float32(HISTORY_SAMPLES)
    const concealment: ConcealmentMemory = { state: concealed, source, history: cut.int16(HISTORY_SAMPLES) }
    this.stream = { state, clock, skew, concealment, reorder: { state: reorder, sequence, seen } }
  }
}

const HISTORY_SAMPLES = msToSamples(PITCH_HISTORY_MS, NARROWBAND)

/** Cuts memory into arrays, each at a multiple of 8 bytes. */
class Cutter {
  readonly memory: SharedArrayBuffer
  #at = 0

  constructor(memory: SharedArrayBuffer) {
    this.memory = memory
  }

  words({ names }: { readonly names: readonly string[] }): Float64Array {
    return this.float64(names.length)
  }

  float64(length: number): Float64Array {
    return new Float64Array(this.memory, this.#take(8 * length), length)
  }

  float32(length: number): Float32Array {
    return new Float32Array(this.memory, this.#take(4 * length), length)
  }

  int16(length: number): Int16Array {
    return new Int16Array(this.memory, this.#take(2 * length), length)
  }

  uint8(length: number): Uint8Array {
    return new Uint8Array(this.memory, this.#take(length), length)
  }

  #take(bytes: number): number {
    const at = this.#at
    this.#at += Math.ceil(bytes / 8) * 8
    return at
  }
}

/** Of the memory that a page cuts. */
const PAGE_BYTES =
  8 * (PAGE_WORDS.flat().length + REORDER_SLOTS + 2 * REPLAY_WINDOW_WORDS + MOST_TAPS) +
  4 * (2 * VOICE_FRAME + DECIMATED_WINDOW + HISTORY_SAMPLES) +
  2 * MOST_TAPS +
  PAYLOAD_TYPES +
  Math.ceil(HISTORY_SAMPLES / 4) * 8
