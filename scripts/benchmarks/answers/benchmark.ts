import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AnswerClass } from '@parley/dialogue'
import type { PhrasePattern } from '@parley/dialogue/testing'
import type { Benchmark, BenchmarkOptions } from '../benchmark.ts'
import { asteriskAmd, type BaselineVerdict, silenceRule } from './baselines.ts'
import { calleeAudio } from './callee-audio.ts'
import { confusionOf, figuresOf, finalClass, isPlainMachine, type JudgedRow, machineAt, wilson } from './figures.ts'
import type { Half } from './half.ts'
import { judge } from './judge.ts'
import { labelledFiles } from './labelled-files.ts'
import { LinesLeftOut } from './lines-left-out.ts'
import { type CallSpec, callsOf } from './manifest.ts'
import { observe } from './observe.ts'
import { comparePersonCalls } from './person-calls.ts'
import { transcriptsOf } from './simulated-recogniser.ts'
import { type BudgetedCall, timeBudgetOf } from './time-budget.ts'
import { writeCalls } from './write-calls.ts'

/** Every scoring of the held-out half. */
const LOG = join(import.meta.dirname, 'held-out-scorings.jsonl')
const CONCURRENCY = 3
/** A machine that is found later than this is listed among the errors. */
const SLOW_MS = 3500

interface ScoredCall extends BudgetedCall {
  readonly spec: CallSpec
  readonly wordsOnly: JudgedRow['judgement']
  readonly asterisk: BaselineVerdict
  readonly silence: BaselineVerdict
  readonly beepEndMs: number | null
}

/**
 * AnswerBench: how well answer detection tells people from machines, on calls with synthetic voices.
 * `npm run bench -- answers [--half tuning|held-out] [--share 0..1] [--seed 1] [--leave-out lines] [--errors FILE] [--dir DIR]`. The default is the whole held-out
 * half, and its scoring is logged in held-out-scorings.jsonl. `--write DIR` writes the calls (default: the tuning half) as WAV files
 * with labels and a manifest instead. `--dir` judges WAV files of anybody by their sound alone. `--person-calls PAIRS` compares calls with a
 * person, with detection and without it.
 */
export const benchmark: Benchmark = {
  name: 'answers',
  options: ['half', 'share', 'seed', 'leave-out', 'errors', 'dir', 'write', 'person-calls'],
  run,
}

async function run(options: BenchmarkOptions): Promise<object> {
  const directory = options.option('dir')
  if (directory !== undefined) return judgeFiles(directory, options)
  const pairs = options.option('person-calls')
  if (pairs !== undefined) return comparePersonCalls(pairsOf(pairs), options)
  const target = options.option('write')
  const half = halfNamed(options.option('half') ?? (target === undefined ? 'held-out' : 'tuning'))
  const share = Number(options.option('share') ?? 1)
  if (!(share > 0 && share <= 1)) throw new Error('--share takes a number above 0, at most 1')
  const seed = Number(options.option('seed') ?? 1)
  const specs = callsOf(half, share, seed)
  if (target !== undefined) {
    await writeCalls(target, specs, count => {
      if (count % 200 === 0) options.progress(`${count} of ${specs.length} calls`)
    })
    return { bench: 'answers', written: specs.length, dir: target, half, share, seed }
  }
  const rows = await scored(specs, leftOut(half, specs, options.option('leave-out')), options)
  const summary = report(rows, options)
  const errors = options.option('errors')
  if (errors !== undefined) writeErrors(errors, rows)
  if (half === 'held-out')
    appendFileSync(LOG, `${JSON.stringify({ at: new Date().toISOString(), calls: rows.length, ...summary })}\n`)
  return { bench: 'answers', half, scorings: half === 'held-out' ? scorings() : null, ...summary }
}

function pairsOf(text: string): number {
  if (!/^[1-9]\d{0,3}$/.test(text))
    throw new Error(`--person-calls takes a number of pairs from 1 to 9999, not "${text}"`)
  return Number(text)
}

function halfNamed(name: string): Half {
  if (name === 'held-out' || name === 'tuning') return name
  throw new Error('--half takes "tuning" or "held-out"')
}

/** `--leave-out lines`: each call of the tuning half is judged without the phrases that its own lines alone support. */
function leftOut(half: Half, specs: readonly CallSpec[], what: string | undefined): LinesLeftOut | null {
  if (what === undefined) return null
  if (what !== 'lines' || half !== 'tuning') throw new Error('--leave-out takes "lines", with --half tuning')
  return new LinesLeftOut(specs)
}

function scorings(): number {
  return readFileSync(LOG, 'utf8').trim().split('\n').length
}

async function scored(
  specs: readonly CallSpec[],
  without: LinesLeftOut | null,
  { progress }: BenchmarkOptions,
): Promise<ScoredCall[]> {
  const rows: ScoredCall[] = []
  const waiting = [...specs]
  const work = async () => {
    for (let spec = waiting.shift(); spec !== undefined; spec = waiting.shift()) {
      rows.push(await score(spec, without?.phrasesFor(spec)))
      if (rows.length % 200 === 0) progress(`${rows.length} of ${specs.length} calls`)
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, work))
  return rows.sort((a, b) => (a.spec.id < b.spec.id ? -1 : 1))
}

async function score(spec: CallSpec, phrases: readonly PhrasePattern[] | undefined): Promise<ScoredCall> {
  const audio = await calleeAudio(spec)
  const sounds = observe(audio.samples)
  const lengthMs = audio.samples.length / 8
  const transcripts = transcriptsOf(audio.words, spec.snrDb, spec.seed)
  const { language } = spec
  const { answeredMs, beepEndMs, words } = audio
  const since = (ms: number | null) => (ms === null ? null : ms - answeredMs)
  return {
    spec,
    class: spec.class,
    language,
    answeredMs,
    words,
    transcripts,
    firstSoundMs: since(audio.firstSoundMs),
    beepEndMs: since(beepEndMs),
    judgement: judge(sounds, transcripts, lengthMs, { language, answeredMs, phrases }),
    wordsOnly: judge(sounds, transcripts, lengthMs, { language, answeredMs, withSound: false }),
    asterisk: asteriskAmd(sounds, answeredMs),
    silence: silenceRule(sounds, answeredMs),
  }
}

/** Prints all tables and returns the summary. */
function report(rows: readonly ScoredCall[], { line }: BenchmarkOptions) {
  const figures = figuresOf(rows)
  line({ table: 'all', ...figures })
  line({ table: 'confusion', rows: confusionOf(rows) })
  const groups: readonly [string, (row: ScoredCall) => string][] = [
    ['snr_db', row => String(row.spec.snrDb ?? 'clean')],
    ['codec', row => row.spec.codec],
    ['language', row => row.spec.language],
    ['loss_percent', row => String(row.spec.lossPercent)],
    ['kind', row => `${row.class}/${row.spec.kind}`],
  ]
  for (const [table, keyOf] of groups)
    for (const key of [...new Set(rows.map(keyOf))].sort())
      line({ table, [table]: key, ...figuresOf(rows.filter(row => keyOf(row) === key)) })
  line({ table: 'time', ...timeBudgetOf(rows) })
  line({ table: 'messages', ...messagesOf(rows) })
  line({ table: 'baseline', name: 'words only', ...figuresOf(rows.map(row => ({ ...row, judgement: row.wordsOnly }))) })
  line({ table: 'baseline', name: 'silence length', ...baselineFigures(rows, row => row.silence) })
  line({ table: 'baseline', name: 'Asterisk AMD, classic', ...baselineFigures(rows, row => row.asterisk) })
  return {
    machine_recall: figures.machine_recall.share,
    humans_lost: figures.humans_lost.share,
    screener_recall: figures.screener_recall.share,
    verdict_p50_ms: figures.verdict_p50_ms,
    verdict_p95_ms: figures.verdict_p95_ms,
    verdict_from_sound_p50_ms: figures.verdict_from_sound_p50_ms,
    verdict_from_sound_p95_ms: figures.verdict_from_sound_p95_ms,
    added_p95_ms: figures.added_p95_ms,
  }
}

/** When a message would begin, at mailboxes that were found. */
function messagesOf(rows: readonly ScoredCall[]) {
  const mailboxes = rows.filter(row => row.class === 'voicemail' && finalClass(row.judgement) === 'voicemail')
  const withBeep = mailboxes.filter(row => row.beepEndMs !== null)
  const startOf = (row: ScoredCall) => row.judgement.greetingOver.at(-1)?.atMs ?? Number.POSITIVE_INFINITY
  const inTime = withBeep.filter(row => startOf(row) >= row.beepEndMs! - 20 && startOf(row) <= row.beepEndMs! + 300)
  const early = withBeep.filter(
    row => (row.judgement.greetingOver[0]?.atMs ?? Number.POSITIVE_INFINITY) < row.beepEndMs! - 20,
  )
  const silent = mailboxes.filter(row => row.beepEndMs === null)
  return {
    started_within_300_ms_of_the_beep: wilson(inTime.length, withBeep.length),
    begun_before_the_beep: wilson(early.length, withBeep.length),
    begun_without_a_beep: wilson(silent.filter(row => row.judgement.greetingOver.length > 0).length, silent.length),
  }
}

function baselineFigures(rows: readonly ScoredCall[], of: (row: ScoredCall) => BaselineVerdict) {
  const machines = rows.filter(row => isPlainMachine(row.class))
  const people = rows.filter(row => row.class === 'human')
  return {
    machine_recall: wilson(machines.filter(row => of(row).machine === true).length, machines.length),
    humans_lost: wilson(people.filter(row => of(row).machine === true).length, people.length),
  }
}

function writeErrors(file: string, rows: readonly ScoredCall[]): void {
  for (const { spec, judgement, class: name, ...row } of rows) {
    const found = finalClass(judgement)
    const isLost = name === 'human' && machineAt(judgement) !== null
    const isSlow = isPlainMachine(name) && (machineAt(judgement) ?? 0) - (row.firstSoundMs ?? 0) > SLOW_MS
    if (found === name && !isLost && !isSlow) continue
    const verdicts = judgement.verdicts.map(({ atMs, verdict }) => ({
      atMs,
      class: verdict.class,
      evidence: verdict.evidence,
    }))
    appendFileSync(
      file,
      `${JSON.stringify({ ...spec, voice: spec.voice.id, parts: undefined, firstSoundMs: row.firstSoundMs, found, verdicts })}\n`,
    )
  }
}

function judgeFiles(directory: string, { line }: BenchmarkOptions): object {
  const rows = labelledFiles(directory).map(({ file, class: name, samples }) => {
    const judgement = judge(observe(samples), [], samples.length / 8, { language: 'en', answeredMs: 0 })
    line({ file, class: name, found: finalClass(judgement), at_ms: judgement.verdicts.at(-1)?.atMs ?? null })
    return { class: name as AnswerClass, firstSoundMs: null, judgement }
  })
  line({ table: 'confusion', rows: confusionOf(rows) })
  const figures = figuresOf(rows)
  return {
    bench: 'answers',
    dir: directory,
    machine_recall: figures.machine_recall.share,
    humans_lost: figures.humans_lost.share,
    screener_recall: figures.screener_recall.share,
    verdict_p50_ms: figures.verdict_p50_ms,
    added_p95_ms: figures.added_p95_ms,
  }
}
