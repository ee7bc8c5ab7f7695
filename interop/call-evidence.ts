import { readFileSync } from 'node:fs'
import type { TimelineItem, Utterance } from '@parley/conversation'
import type { CallReport } from '@parley/engine/testing'
import { type Ms, msToSamples, NARROWBAND, type Samples, samplesToMs } from '@parley/kernel'
import { readWav } from '@parley/media'
import type { PhoneCall } from '@parley/phone'
import { toneBandFilter } from '@parley/providers'
import { expect } from 'vitest'
import type { FinishedCall } from './conversation-harness.ts'

/** 10 ms. */
const FRAME: Samples = 80
/** What carries words is never quieter; a line at rest is. */
const AUDIBLE_RMS = 30
/** Below it a hiss dies away in which nobody hears a voice any more. */
const VOICE_RMS = 100
/** The recording stands on the clock that utterances are placed on: packets are 20 ms. */
const CLOCK_MS: Ms = 30
/** A voice may begin and end softly inside of its audio. */
const SOFT_MS: Ms = 300
/** How far voice activity may be beside the first and the last sound of speech. */
const HEARD_WITHIN_MS: Ms = 100

const PACKET_MS: Ms = 20
/** Share of words that gaps may tear. */
const MOST_TORN = 0.05

/** Both channels of a call's recording. */
export interface Recording {
  readonly caller: Int16Array
  readonly agent: Int16Array
}

export function recordingOf(report: CallReport): Recording {
  const { sampleRate, channels } = readWav(readFileSync(report.end.media!.recording!.path))
  expect({ sampleRate, channels: channels.length }).toEqual({ sampleRate: 8000, channels: 2 })
  return { caller: channels[0]!, agent: channels[1]! }
}

/** Facts of one kind, in order. */
export function factsOf<Kind extends TimelineItem['kind']>(
  { timeline }: CallReport,
  kind: Kind,
): (TimelineItem & { kind: Kind })[] {
  return timeline.filter((item): item is TimelineItem & { kind: Kind } => item.kind === kind)
}

/** Nodes in the order of entry: "count (edge order)". */
export function pathOf(report: CallReport): string[] {
  return factsOf(report, 'node').map(
    ({ node_id, cause, edge_id }) => `${node_id} (${cause}${edge_id === null ? '' : ` ${edge_id}`})`,
  )
}

export function linesOf(report: CallReport, role: Utterance['role']): string[] {
  return report.utterances.filter(line => line.role === role).map(line => line.text)
}

/** All that the phone understood. */
function heardBy(phone: PhoneCall): string {
  return phone.heardLines.map(line => line.text).join(' ')
}

/** Stretches of audible sound, ms; pauses up to `joinMs` are inside of one. */
export function soundsIn(
  audio: Int16Array,
  joinMs: Ms = 400,
  audibleRms = AUDIBLE_RMS,
): { readonly fromMs: Ms; readonly toMs: Ms }[] {
  const sounds: { fromMs: Ms; toMs: Ms }[] = []
  for (let at = 0; at + FRAME <= audio.length; at += FRAME) {
    if (rms(audio, at) < audibleRms) continue
    const last = sounds.at(-1)
    const fromMs = samplesToMs(at, NARROWBAND)
    if (last === undefined || fromMs - last.toMs > joinMs) sounds.push({ fromMs, toMs: fromMs + 10 })
    else last.toMs = fromMs + 10
  }
  return sounds
}

/**
 * Whether the call's own account holds against what came down the line and what was recorded. For calls in which the
 * agent said nothing that is not in its transcript.
 */
export async function expectConsistent(finished: FinishedCall): Promise<void> {
  const { report, phone } = finished
  expect(report.transport).toEqual({ signalling: 'tls', media: 'srtp' })
  expect(report.end.media!.statistics).toMatchObject({
    packetsLost: 0,
    rejected: { unauthenticated: 0, replayed: 0, foreign: 0, malformed: 0 },
  })
  try {
    const recording = recordingOf(report)
    expectOrderly(report)
    await expectHeardAsWritten(finished)
    await expectSaidAsWritten(finished)
    expectAgentInRecording(report, recording.agent)
    expectCallerInRecording(report, recording.caller)
  } catch (error) {
    console.log(JSON.stringify({ gapsMs: await gapsMs(finished), heard: phone.heardLines }))
    console.log(report.timeline.map(item => JSON.stringify(item)).join('\n'))
    throw error
  }
}

/** The transcript has what the caller said, each in a turn of its own. */
async function expectSaidAsWritten(finished: FinishedCall): Promise<void> {
  const { report, said } = finished
  if (said === null) return
  const lines = linesOf(report, 'user')
  expect(lines, JSON.stringify(lines)).toHaveLength(said.length)
  await expectWords(finished, lines.join(' '), said.join(' '), 0)
}

/**
 * Sound that was made up at either end, or not sent in time, where the machine was late; none on a quiet machine. What
 * is torn by it is not understood, and that is nobody's fault.
 */
async function gapsMs({ report, phone }: FinishedCall): Promise<Ms> {
  const ends = [report.end, await phone.ended].map(end => end.media!.statistics)
  return ends.reduce(
    (sum, line) => sum + samplesToMs(line.concealedSamples, NARROWBAND) + PACKET_MS * line.missedSlots,
    0,
  )
}

/** Sequence numbers without gaps; all on the sample clock, between its origin and the end of the recording. */
function expectOrderly(report: CallReport): void {
  const { timeline, utterances, end } = report
  expect(timeline.map(item => item.seq)).toEqual(timeline.map((_, index) => index + 1))
  const times = timeline.map(item => Date.parse(item.at))
  expect(times).toEqual(times.toSorted((a, b) => a - b))
  const { durationMs } = end.media!.recording!
  for (const item of timeline) {
    expect(item.offset_ms, JSON.stringify(item)).toBeGreaterThanOrEqual(0)
    expect(item.offset_ms, JSON.stringify(item)).toBeLessThanOrEqual(durationMs + CLOCK_MS)
  }
  expect(utterances.map(line => line.index)).toEqual(utterances.map((_, index) => index))
  const reported = factsOf(report, 'utterance').map(({ index, text, start_ms }) => ({ index, text, start_ms }))
  expect(reported).toEqual(utterances.map(({ index, text, start_ms }) => ({ index, text, start_ms })))
}

/**
 * The phone understood every word that the transcript says it heard, in order, and no other. The word in which the agent
 * stopped to listen is an exception: cut or torn apart it may be understood not at all, or by each of its parts.
 */
async function expectHeardAsWritten(finished: FinishedCall): Promise<void> {
  const { report, phone } = finished
  const stops = factsOf(report, 'interruption').length
  await expectWords(finished, heardBy(phone), linesOf(report, 'agent').join(' '), stops)
}

/** The same words; of `excused` more, and of one for each gap, it does not matter. */
async function expectWords(finished: FinishedCall, actual: string, expected: string, excused: number): Promise<void> {
  const [heard, written] = [wordsOf(actual), wordsOf(expected)]
  const gaps = Math.ceil((await gapsMs(finished)) / PACKET_MS)
  const most = excused + Math.min(gaps, Math.ceil(written.length * MOST_TORN))
  if (most === 0) expect(heard).toEqual(written)
  else expect(wordErrors(heard, written), `${actual} / ${expected}`).toBeLessThanOrEqual(most)
}

/** All sound of the agent lies in its utterances, and each utterance is sound from end to end. */
function expectAgentInRecording({ utterances }: CallReport, audio: Int16Array): void {
  const spans = spansOf(utterances, 'agent')
  for (const sound of soundsIn(audio, 40)) {
    const inside = spans.some(span => span.startMs - CLOCK_MS <= sound.fromMs && sound.toMs <= span.endMs + CLOCK_MS)
    expect(inside, `the agent is heard at ${sound.fromMs}-${sound.toMs} ms: ${JSON.stringify(spans)}`).toBe(true)
  }
  for (const { text, startMs, endMs } of spans) {
    const within = soundsIn(audio.subarray(msToSamples(startMs, NARROWBAND), msToSamples(endMs, NARROWBAND)))
    expect(within.length, `${text} (${startMs}-${endMs} ms) is not heard`).toBeGreaterThan(0)
    expect(within[0]!.fromMs, `the beginning of ${text}`).toBeLessThanOrEqual(SOFT_MS)
    expect(endMs - startMs - within.at(-1)!.toMs, `the end of ${text}`).toBeLessThanOrEqual(SOFT_MS)
  }
}

/** Each turn of the caller that was understood begins and ends where the caller is heard. */
function expectCallerInRecording({ utterances }: CallReport, audio: Int16Array): void {
  const sounds = soundsIn(speechIn(audio), 400, VOICE_RMS)
  for (const { text, startMs, endMs } of spansOf(utterances, 'user')) {
    const overlapping = sounds.filter(sound => sound.fromMs < endMs && sound.toMs > startMs)
    expect(overlapping.length, `${text} (${startMs}-${endMs} ms) is not in the recording`).toBeGreaterThan(0)
    expect(Math.abs(overlapping[0]!.fromMs - startMs), `the beginning of ${text}`).toBeLessThan(HEARD_WITHIN_MS)
    expect(Math.abs(overlapping.at(-1)!.toMs - endMs), `the end of ${text}`).toBeLessThan(HEARD_WITHIN_MS)
  }
}

/** Without the tones that carry the words, which may outlast the speech. */
function speechIn(audio: Int16Array): Int16Array {
  const filter = toneBandFilter()
  const filtered = new Int16Array(audio.length)
  filter.filter(audio, 0, audio.length, filtered, 0)
  return filtered.subarray(filter.delay)
}

interface Span {
  readonly text: string
  readonly startMs: Ms
  readonly endMs: Ms
}

function spansOf(utterances: readonly Utterance[], role: Utterance['role']): Span[] {
  return utterances
    .filter(line => line.role === role)
    .map(({ text, start_ms, end_ms }) => {
      expect(start_ms, text).not.toBeNull()
      expect(end_ms, text).not.toBeNull()
      return { text, startMs: start_ms!, endMs: end_ms! }
    })
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
}

/** Words to take out, put in or change. */
function wordErrors(heard: readonly string[], written: readonly string[]): number {
  let row = written.map((_, index) => index + 1)
  for (const [at, word] of heard.entries()) {
    const before = [at, ...row]
    row = []
    for (const [index, other] of written.entries()) {
      const changed = before[index]! + (word === other ? 0 : 1)
      row.push(Math.min(changed, before[index + 1]! + 1, (row[index - 1] ?? at + 1) + 1))
    }
  }
  return row.at(-1) ?? heard.length
}

function rms(audio: Int16Array, at: Samples): number {
  let sum = 0
  for (let i = at; i < at + FRAME; i++) sum += audio[i]! ** 2
  return Math.sqrt(sum / FRAME)
}
