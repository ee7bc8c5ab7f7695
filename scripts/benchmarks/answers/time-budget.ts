import { normalisedSpeech } from '@parley/dialogue/testing'
import { quantile } from '../quantile.ts'
import type { SpokenText } from './callee-audio.ts'
import { isPlainMachine, type JudgedRow, machineAt } from './figures.ts'
import type { Transcript } from './simulated-recogniser.ts'

/** A judged call with what was said and recognised in it, on the clock of the audio, in which the answer is at `answeredMs`. */
export interface BudgetedCall extends JudgedRow {
  readonly language: string
  readonly answeredMs: number
  readonly words: readonly SpokenText[]
  readonly transcripts: readonly Transcript[]
}

/**
 * Where the time to decide on a machine goes, medians in ms: until the first sound, from there to the end of the decisive word, until the recogniser
 * delivers it, and until the detector decides. `known_*`: the time from the answer to the first delivered word with which no person of these calls begins, or to the
 * verdict where that came sooner: nobody who judges by the words can do better without losing one of these people.
 */
export function timeBudgetOf(rows: readonly BudgetedCall[]) {
  const people = openingsOf(rows.filter(row => row.class === 'human'))
  const machines = rows.filter(row => isPlainMachine(row.class) && machineAt(row.judgement) !== null)
  const byWords = machines.flatMap(row => wordsBudget(row) ?? [])
  const known = machines.map(row => Math.min(machineAt(row.judgement)!, knownAt(row, people)))
  const at = (values: readonly number[], q: number) => (values.length === 0 ? null : Math.round(quantile(values, q)))
  return {
    machines: machines.length,
    by_words: byWords.length,
    first_sound_p50_ms: at(
      machines.map(row => row.firstSoundMs ?? 0),
      0.5,
    ),
    speech_p50_ms: at(
      byWords.map(({ speechMs }) => speechMs),
      0.5,
    ),
    recogniser_p50_ms: at(
      byWords.map(({ recogniserMs }) => recogniserMs),
      0.5,
    ),
    detector_p50_ms: at(
      byWords.map(({ detectorMs }) => detectorMs),
      0.5,
    ),
    known_p50_ms: at(known, 0.5),
    known_p95_ms: at(known, 0.95),
  }
}

/** The parts of the time to a verdict that words gave; null: something else gave it. */
function wordsBudget(row: BudgetedCall) {
  const atMs = machineAt(row.judgement)!
  const verdict = row.judgement.verdicts.find(one => Math.max(0, one.atMs) === atMs)!.verdict
  if (verdict.evidence[0]?.kind !== 'words' || row.firstSoundMs === null) return null
  const heard = row.transcripts.findLast(transcript => transcript.atMs <= atMs + row.answeredMs)
  const word = heard?.words.at(-1)
  if (heard === undefined || word === undefined) return null
  return {
    speechMs: word.endMs - row.answeredMs - row.firstSoundMs,
    recogniserMs: heard.atMs - word.endMs,
    detectorMs: atMs + row.answeredMs - heard.atMs,
  }
}

/** All beginnings of what these calls say after the answer. */
function openingsOf(rows: readonly BudgetedCall[]): ReadonlySet<string> {
  const openings = new Set<string>()
  for (const row of rows) {
    let opening = row.language
    for (const { text } of saidAfterAnswer(row)) {
      opening += normalisedSpeech(text)
      openings.add(opening)
    }
  }
  return openings
}

/** When the first word is delivered with which none of the openings goes on; infinite: never. The recogniser delivers one partial a word. */
function knownAt(row: BudgetedCall, openings: ReadonlySet<string>): number {
  const partials = row.transcripts.filter(({ isFinal }) => !isFinal)
  let opening = row.language
  for (const word of saidAfterAnswer(row)) {
    opening += normalisedSpeech(word.text)
    if (!openings.has(opening)) return partials[row.words.indexOf(word)]!.atMs - row.answeredMs
  }
  return Number.POSITIVE_INFINITY
}

function saidAfterAnswer({ words, answeredMs }: BudgetedCall): readonly SpokenText[] {
  return words.filter(({ startMs }) => startMs >= answeredMs)
}
