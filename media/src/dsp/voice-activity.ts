import { type Ms, NARROWBAND, type Samples, samplesToMs } from '@parley/kernel'
import { wordsClass } from '../page/words.ts'
import { type CueMemory, VoiceCues } from './voice-cues.ts'

interface VoiceActivityOptions {
  /** Quiet needed before speech counts as ended, ms; default 200, at least 50. */
  readonly hangoverMs?: Ms
}

/** `loud` and `voiced` have one bit per frame, the newest lowest; `framePosition` is that of the frame being filled. */
export const VoiceWords = wordsClass(
  'isSpeaking',
  'hangoverFrames',
  'filled',
  'framePosition',
  'floor',
  'smooth',
  'steadyLevel',
  'steadyFrames',
  'loud',
  'voiced',
  'loudRun',
  'quietFrames',
  'voicelessFrames',
  'lastSpeechEnd',
)

/** Where voice activity keeps its state; default memory of its own. */
export interface VoiceMemory {
  readonly state: Float64Array
  /** The first samples of a frame whose others have not come yet; room for 80. */
  readonly frame: Float32Array
  readonly cues: CueMemory
}

/** 10 ms. */
export const VOICE_FRAME: Samples = 80
const FRAME_MS = samplesToMs(VOICE_FRAME, NARROWBAND)

/** Levels in dB below full scale (a sine of full amplitude is -3). */
const LOWEST_FLOOR = -65
const HIGHEST_FLOOR = -20
const LOWEST_ONSET = -50
const LOWEST_SPEECH = -52
const ONSET_ABOVE_FLOOR = 7
const SPEECH_ABOVE_FLOOR = 5
/** Share of the way that the noise floor moves per frame. */
const FLOOR_FALL = 0.3
const FLOOR_RISE = 0.05
const FLOOR_JUMP = 0.2

/** Onset: of the last 6 frames at least 4 are loud and 3 of those voiced. */
const ONSET_WINDOW = 0b111111
const ONSET_LOUD = 4
const ONSET_VOICED = 3
/** The true onset is searched this far back, over pauses of at most 2 frames (stops before a vowel). */
const MAX_RUN_UP = 30
const MAX_PAUSE = 2
/** Sound that is loud but not voiced for this long is noise, not speech. */
const NOISE_AFTER_FRAMES = 30
const VOICELESS_END_FRAMES = 60
/** A level that stays within +-1 dB for this long is a tone or a machine, not speech. */
const STEADY_FRAMES = 200
const STEADY_DB = 1
const VOICE_CHECK_EVERY = 4

const QUEUE = 8
const START = 1

/** A frame that came whole; none is kept from one push to the next. */
const wholeFrame = new Float32Array(VOICE_FRAME)

/**
 * Detects where speech starts and ends in 8 kHz audio: loud against a tracked noise floor, and voiced (periodic at a
 * speaking pitch). Steady noise of any level, hum, comfort noise and DTMF tones are not speech. An onset is known after
 * 40 to 60 ms of voice and reported with its true position. After `push`, drain `take()`.
 */
export class VoiceActivity {
  /**
   * Position of the transition that `take()` returned last, on the sample clock: the true onset, or the end of the last
   * speech.
   */
  position: Samples = 0

  readonly #state: InstanceType<typeof VoiceWords>
  readonly #cues: VoiceCues
  readonly #frame: Float32Array
  readonly #queueType = new Uint8Array(QUEUE)
  readonly #queuePosition = new Float64Array(QUEUE)
  #head = 0
  #tail = 0

  constructor(options: VoiceActivityOptions = {}, memory?: VoiceMemory) {
    const state = new VoiceWords(memory?.state)
    for (const name of VoiceWords.names) state[name] = 0
    state.hangoverFrames = Math.ceil(Math.max(options.hangoverMs ?? 200, 50) / FRAME_MS)
    state.floor = LOWEST_FLOOR
    state.smooth = LOWEST_FLOOR
    state.steadyLevel = LOWEST_FLOOR
    this.#state = state
    this.#cues = new VoiceCues(memory?.cues)
    this.#frame = memory?.frame ?? new Float32Array(VOICE_FRAME)
  }

  get speaking(): boolean {
    return this.#state.isSpeaking !== 0
  }

  /** Level of the noise that speech is measured against, dBFS. */
  get noiseFloor(): number {
    return this.#state.floor
  }

  /**
   * `position`: position of audio[offset] on the sample clock; after a jump against the last push, the incomplete frame
   * is dropped.
   */
  push(position: Samples, audio: Int16Array, offset: number, count: Samples): void {
    if (position !== this.#state.framePosition + this.#state.filled) {
      this.#state.framePosition = position
      this.#state.filled = 0
    }
    for (let done = 0; done < count; ) {
      const filled = this.#state.filled
      const taken = Math.min(VOICE_FRAME - filled, count - done)
      const frame = taken === VOICE_FRAME ? wholeFrame : this.#frame
      for (let i = 0; i < taken; i++) frame[filled + i] = audio[offset + done + i]! / 32768
      done += taken
      this.#state.filled = filled + taken
      if (this.#state.filled < VOICE_FRAME) continue
      this.#onFrame(frame)
      this.#state.framePosition += VOICE_FRAME
      this.#state.filled = 0
    }
  }

  take(): 'voice-start' | 'voice-end' | null {
    if (this.#head === this.#tail) return null
    const i = this.#head++ & (QUEUE - 1)
    this.position = this.#queuePosition[i]!
    return this.#queueType[i] === START ? 'voice-start' : 'voice-end'
  }

  #onFrame(frame: Float32Array): void {
    this.#cues.push(frame)
    const level = this.#cues.level
    this.#state.smooth += 0.25 * (level - this.#state.smooth)
    if (Math.abs(this.#state.smooth - this.#state.steadyLevel) <= STEADY_DB) this.#state.steadyFrames++
    else {
      this.#state.steadyLevel = this.#state.smooth
      this.#state.steadyFrames = 0
    }
    if (this.speaking) this.#whileSpeaking(level)
    else this.#whileQuiet(level)
  }

  #whileQuiet(level: number): void {
    const loud = level > Math.max(this.#state.floor + ONSET_ABOVE_FLOOR, LOWEST_ONSET)
    const voiced = loud && this.#state.steadyFrames < STEADY_FRAMES && this.#cues.isVoiced() && !this.#cues.isDtmf()
    this.#state.loud = (this.#state.loud << 1) | (loud ? 1 : 0)
    this.#state.voiced = (this.#state.voiced << 1) | (voiced ? 1 : 0)
    this.#state.loudRun = loud ? this.#state.loudRun + 1 : 0
    if (bits(this.#state.loud & ONSET_WINDOW) >= ONSET_LOUD && bits(this.#state.voiced & ONSET_WINDOW) >= ONSET_VOICED)
      this.#start()
    else this.#trackFloor(level, loud)
  }

  #trackFloor(level: number, loud: boolean): void {
    let share = FLOOR_RISE
    if (level < this.#state.floor) share = FLOOR_FALL
    else if (loud) share = this.#state.loudRun > NOISE_AFTER_FRAMES ? FLOOR_JUMP : 0
    this.#setFloor(this.#state.floor + share * (level - this.#state.floor))
  }

  #start(): void {
    let onset = 0
    for (let back = 1, pause = 0; back < MAX_RUN_UP && pause <= MAX_PAUSE; back++) {
      if ((this.#state.loud >>> back) & 1) {
        onset = back
        pause = 0
      } else pause++
    }
    this.#state.isSpeaking = 1
    this.#state.quietFrames = 0
    this.#state.voicelessFrames = 0
    this.#put(START, Math.max(this.#state.framePosition - onset * VOICE_FRAME, this.#state.lastSpeechEnd))
    this.#state.lastSpeechEnd = this.#state.framePosition + VOICE_FRAME
  }

  #whileSpeaking(level: number): void {
    if (level < this.#state.floor) this.#setFloor(this.#state.floor + FLOOR_FALL * (level - this.#state.floor))
    const loud = level > Math.max(this.#state.floor + SPEECH_ABOVE_FLOOR, LOWEST_SPEECH)
    if (!loud) {
      if (++this.#state.quietFrames >= this.#state.hangoverFrames) this.#end()
      return
    }
    this.#state.quietFrames = 0
    this.#state.lastSpeechEnd = this.#state.framePosition + VOICE_FRAME
    this.#state.voicelessFrames++
    if (this.#state.voicelessFrames % VOICE_CHECK_EVERY === 0 && this.#cues.isVoiced()) this.#state.voicelessFrames = 0
    if (this.#state.voicelessFrames >= VOICELESS_END_FRAMES || this.#state.steadyFrames >= STEADY_FRAMES) {
      this.#setFloor(this.#state.smooth)
      this.#end()
    }
  }

  #end(): void {
    this.#state.isSpeaking = 0
    this.#state.loud = 0
    this.#state.voiced = 0
    this.#state.loudRun = 0
    this.#put(0, this.#state.lastSpeechEnd)
  }

  #setFloor(level: number): void {
    this.#state.floor = Math.max(LOWEST_FLOOR, Math.min(HIGHEST_FLOOR, level))
  }

  #put(type: number, position: Samples): void {
    const i = this.#tail++ & (QUEUE - 1)
    this.#queueType[i] = type
    this.#queuePosition[i] = position
    // If the owner does not call `take`, the oldest transitions are dropped.
    this.#head = Math.max(this.#head, this.#tail - QUEUE)
  }
}

function bits(mask: number): number {
  let count = 0
  for (let rest = mask; rest !== 0; rest &= rest - 1) count++
  return count
}
