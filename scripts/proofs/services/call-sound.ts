import { type Ms, msToSamples, NARROWBAND, type Samples } from '@parley/kernel'

const FRAME: Samples = 160
const FRAME_MS: Ms = 20
/** Amplitude above which a sample is sound; codec noise is far below. */
const SOUND_THRESHOLD = 300
/** A shorter pause is one between words. */
const PAUSE_FRAMES = 15

/** When each side of a call has sound; times in ms on the call's sample clock, steps of 20 ms. */
export class CallSound {
  #caller: readonly boolean[]
  #agent: readonly boolean[]

  /** Samples at 8 kHz. */
  constructor(caller: Int16Array, agent: Int16Array) {
    this.#caller = soundsOf(caller)
    this.#agent = soundsOf(agent)
  }

  /** Longest time from the end of the caller's speech, or from one of `marks` (key presses), to the agent's next sound or the end. */
  deadAir(marks: readonly Ms[]): Ms {
    const frames = this.#agent.length
    const ends = marks.map(ms => Math.ceil(ms / FRAME_MS)).filter(frame => frame < frames)
    for (let frame = 0; frame < frames; frame++) if (this.#stopsAt(frame)) ends.push(frame + 1)
    const waits = ends.map(end => {
      const answer = this.#agent.indexOf(true, end)
      return (answer === -1 ? frames : answer) - end
    })
    return Math.max(0, ...waits) * FRAME_MS
  }

  /** Longest silence of both sides after the agent's first sound. */
  silence(): Ms {
    let longest = 0
    let length = 0
    const first = this.#agent.indexOf(true)
    for (let frame = first === -1 ? 0 : first; frame < this.#agent.length; frame++) {
      length = this.#agent[frame] || this.#caller[frame] ? 0 : length + 1
      longest = Math.max(longest, length)
    }
    return longest * FRAME_MS
  }

  /** End of the caller's last sound before `ms`; 0: there was none. */
  lastCallerSoundMs(ms: Ms): Ms {
    return (this.#caller.slice(0, Math.floor(ms / FRAME_MS)).lastIndexOf(true) + 1) * FRAME_MS
  }

  /** Length of the agent's sound in a time range. */
  agentWithin(fromMs: Ms, toMs: Ms): Ms {
    const within = this.#agent.slice(Math.ceil(fromMs / FRAME_MS), Math.max(0, Math.floor(toMs / FRAME_MS)))
    return within.filter(sounds => sounds).length * FRAME_MS
  }

  /** The same call with the agent's sound delayed. */
  agentLater(ms: Ms): CallSound {
    const later = new CallSound(new Int16Array(0), new Int16Array(0))
    const frames = Math.round(ms / FRAME_MS)
    later.#caller = this.#caller
    later.#agent = [...Array.from({ length: frames }, () => false), ...this.#agent]
    return later
  }

  /** Time from `fromMs` to the agent's last sound before `toMs`. */
  silentAfter(fromMs: Ms, toMs: Ms): Ms {
    const last = this.#agent.slice(0, Math.max(0, Math.floor(toMs / FRAME_MS))).lastIndexOf(true)
    return Math.max(0, (last + 1) * FRAME_MS - fromMs)
  }

  #stopsAt(frame: number): boolean {
    if (!this.#caller[frame]) return false
    return !this.#caller.slice(frame + 1, frame + 1 + PAUSE_FRAMES).includes(true)
  }
}

function soundsOf(audio: Int16Array): boolean[] {
  const frames: boolean[] = []
  for (let at = 0; at + FRAME <= audio.length; at += FRAME)
    frames.push(audio.subarray(at, at + FRAME).some(sample => Math.abs(sample) > SOUND_THRESHOLD))
  return frames
}

/** Audio with constant sound or silence, for tests. */
export function stretch(ms: Ms, sounds: boolean): Int16Array {
  return new Int16Array(msToSamples(ms, NARROWBAND)).fill(sounds ? 5000 : 0)
}
