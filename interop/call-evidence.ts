import { readFileSync } from 'node:fs'
import type { TimelineItem, Utterance } from '@parley/conversation'
import type { CallReport } from '@parley/engine/testing'
import { type Ms, msToSamples, NARROWBAND, type Samples, samplesToMs } from '@parley/kernel'
import { readWav } from '@parley/media'
import type { PhoneCall } from '@parley/phone'
import { toneBandFilter } from '@parley/providers/testing'
import { expect } from 'vitest'
import type { FinishedCall } from './conversation-harness.ts'

/** 10 ms. */
const FRAME: Samples = 80
/** Speech is never quieter than this; a silent line always is. */
const AUDIBLE_RMS = 30
/** The fading noise at the end of speech is quieter than this; voice activity does not count it as speech. */
const VOICE_RMS = 100
/** Largest difference between an utterance's times and the recording, which advances by packets of 20 ms. */
const CLOCK_MS: Ms = 30
/** Speech may fade in and fade out within its audio for this long. */
const SOFT_MS: Ms = 300
/** Largest error of the start and the end that voice activity gives to speech. */
const VOICE_ACTIVITY_ERROR_MS: Ms = 100

const PACKET_MS: Ms = 20
/** Largest share of words that gaps in the audio may make unintelligible, beyond the two that a single one may. */
const MAX_DAMAGED = 0.05

/** Both channels of a call's recording. */
interface Recording {
  readonly caller: Int16Array
  readonly agent: Int16Array
}

export function recordingOf(report: CallReport): Recording {
  const { sampleRate, channels } = readWav(readFileSync(report.end.media!.recording!.path))
  expect({ sampleRate, channels: channels.length }).toEqual({ sampleRate: 8000, channels: 2 })
  return { caller: channels[0]!, agent: channels[1]! }
}

/** Timeline items of one kind, in order. */
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

/** All words that the phone's recogniser understood. */
function understoodBy(phone: PhoneCall): string {
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
 * Compares the call's transcript and timeline with what the phone understood and with the recording. For calls in which
 * all words of the agent are in the transcript.
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
    await expectAgentWords(finished)
    await expectCallerWords(finished)
    expectAgentInRecording(report, recording.agent)
    expectCallerInRecording(report, recording.caller)
  } catch (error) {
    console.log(JSON.stringify({ gapsMs: await gapsMs(finished), understood: phone.heardLines }))
    console.log(report.timeline.map(item => JSON.stringify(item)).join('\n'))
    throw error
  }
}

/** The transcript has one turn for each line that the caller spoke, with the same words. */
async function expectCallerWords(finished: FinishedCall): Promise<void> {
  const { report, callerLines } = finished
  if (callerLines === null) return
  const lines = linesOf(report, 'user')
  expect(lines, JSON.stringify(lines)).toHaveLength(callerLines.length)
  await expectWords(finished, lines.join(' '), callerLines.join(' '), 0)
}

/**
 * Audio that either end concealed or sent too late because the machine was busy; 0 on an idle machine. Words in it may
 * be misunderstood, which is no fault of the call.
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
 * The phone understood exactly the agent's words of the transcript, in order. The word in which the agent was
 * interrupted is an exception: cut short, it may be missing or be understood as several words.
 */
async function expectAgentWords(finished: FinishedCall): Promise<void> {
  const { report, phone } = finished
  const stops = factsOf(report, 'interruption').length
  await expectWords(finished, understoodBy(phone), linesOf(report, 'agent').join(' '), stops)
}

/** The words are the same, but for `excused` wrong words and two for each gap, which spoils both where it is between them. */
async function expectWords(finished: FinishedCall, actual: string, expected: string, excused: number): Promise<void> {
  const [understood, written] = [wordsOf(actual), wordsOf(expected)]
  const gaps = Math.ceil((await gapsMs(finished)) / PACKET_MS)
  const most = excused + Math.min(2 * gaps, Math.max(2, Math.ceil(written.length * MAX_DAMAGED)))
  if (most === 0) expect(understood).toEqual(written)
  else expect(wordErrors(understood, written), `${actual} / ${expected}`).toBeLessThanOrEqual(most)
}

/** All sound of the agent lies in its utterances, and each utterance has sound from its start to its end. */
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

/** Each turn of the caller starts and ends where the recording has the caller's voice. */
function expectCallerInRecording({ utterances }: CallReport, audio: Int16Array): void {
  const sounds = soundsIn(speechIn(audio), 400, VOICE_RMS)
  for (const { text, startMs, endMs } of spansOf(utterances, 'user')) {
    const overlapping = sounds.filter(sound => sound.fromMs < endMs && sound.toMs > startMs)
    expect(overlapping.length, `${text} (${startMs}-${endMs} ms) is not in the recording`).toBeGreaterThan(0)
    expect(Math.abs(overlapping[0]!.fromMs - startMs), `the beginning of ${text}`).toBeLessThan(VOICE_ACTIVITY_ERROR_MS)
    expect(Math.abs(overlapping.at(-1)!.toMs - endMs), `the end of ${text}`).toBeLessThan(VOICE_ACTIVITY_ERROR_MS)
  }
}

/** The audio without the tones that encode the words, which may outlast the speech. */
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

/** Word edit distance: insertions, deletions and substitutions. */
function wordErrors(understood: readonly string[], written: readonly string[]): number {
  let row = written.map((_, index) => index + 1)
  for (const [at, word] of understood.entries()) {
    const before = [at, ...row]
    row = []
    for (const [index, other] of written.entries()) {
      const changed = before[index]! + (word === other ? 0 : 1)
      row.push(Math.min(changed, before[index + 1]! + 1, (row[index - 1] ?? at + 1) + 1))
    }
  }
  return row.at(-1) ?? understood.length
}

function rms(audio: Int16Array, at: Samples): number {
  let sum = 0
  for (let i = at; i < at + FRAME; i++) sum += audio[i]! ** 2
  return Math.sqrt(sum / FRAME)
}
