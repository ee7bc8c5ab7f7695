import type { AnswerInput } from '@parley/dialogue'
import { CallTones, VoiceActivity } from '@parley/media'

const FRAME = 160
const FRAME_MS = 20
const HANGOVER_MS = 80

export type Sound = Extract<AnswerInput, { type: 'voice-started' | 'voice-stopped' | 'tone-started' | 'tone-ended' }>

/** A sound with the time at which an engine knows of it. */
export interface Observation {
  readonly atMs: number
  readonly input: Sound
}

/** Voice activity and tones in received audio of 8 kHz, as an engine finds them: 20 ms at a time. */
export function observe(audio: Int16Array): Observation[] {
  const activity = new VoiceActivity({ hangoverMs: HANGOVER_MS })
  const tones = new CallTones()
  const out: Observation[] = []
  for (let at = 0; at + FRAME <= audio.length; at += FRAME) {
    const atMs = at / 8 + FRAME_MS
    activity.push(at, audio, at, FRAME)
    for (let edge = activity.take(); edge !== null; edge = activity.take()) {
      const ms = activity.position / 8
      const isStart = edge === 'voice-start'
      out.push({
        atMs,
        input: isStart ? { type: 'voice-started', startedAt: ms } : { type: 'voice-stopped', stoppedAt: ms },
      })
    }
    tones.push(at, audio, at, FRAME)
    for (let type = tones.take(); type !== null; type = tones.take()) {
      const ms = tones.position / 8
      if (type === 'tone-ended')
        out.push({ atMs, input: { type, at: ms, isIsolated: tones.isIsolated, isPure: tones.isPure } })
      else
        out.push({
          atMs,
          input: { type: 'tone-started', tone: type === 'tone-started' ? 'tone' : type, hz: tones.hz, at: ms },
        })
    }
  }
  return out
}
