import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { asteriskAmd, silenceRule } from './baselines.ts'
import { wilson } from './figures.ts'
import { halfOf } from './half.ts'
import { judge } from './judge.ts'
import { labelledFiles } from './labelled-files.ts'
import { LinesLeftOut } from './lines-left-out.ts'
import { CALLS_OF, callsOf } from './manifest.ts'
import { type Observation, observe } from './observe.ts'
import { transcriptsOf } from './simulated-recogniser.ts'
import { type BudgetedCall, timeBudgetOf } from './time-budget.ts'
import { writeCalls } from './write-calls.ts'

const talk = (startMs: number, endMs: number): Observation[] => [
  { atMs: startMs + 60, input: { type: 'voice-started', startedAt: startMs } },
  { atMs: endMs + 80, input: { type: 'voice-stopped', stoppedAt: endMs } },
]

describe('the calls of AnswerBench', () => {
  it('no voice and no wording is in both halves', () => {
    const tuning = callsOf('tuning')
    const heldOut = callsOf('held-out')
    for (const keyOf of [
      (call: (typeof tuning)[number]) => call.voice.identity,
      (call: (typeof tuning)[number]) => call.wording,
    ]) {
      const known = new Set(tuning.map(keyOf).filter(key => key !== ''))
      expect(heldOut.map(keyOf).filter(key => known.has(key))).toEqual([])
    }
    expect(tuning.every(call => halfOf(call.voice.identity) === 'tuning')).toBe(true)
  })

  it('a half has at least 2,000 calls, 400 of each class, and the same seed gives the same calls', () => {
    expect(callsOf('held-out')).toHaveLength(Object.values(CALLS_OF).reduce((sum, count) => sum + count))
    expect(Math.min(...Object.values(CALLS_OF))).toBeGreaterThanOrEqual(400)
    expect(callsOf('tuning', 0.01)).toEqual(callsOf('tuning', 0.01))
    expect(callsOf('tuning', 0.01, 2)).not.toEqual(callsOf('tuning', 0.01))
  })
})

it('with lines left out a call is judged without the phrases of its class that its lines alone support', () => {
  const [call] = callsOf('tuning', 0.001)
  const spec = (name: 'human' | 'voicemail', wording: string) =>
    ({ ...call!, language: 'en', class: name, wording }) as const
  const first = spec('voicemail', 'You know the drill. / Leave a message.')
  const lines = new LinesLeftOut([first, spec('voicemail', 'Please leave a message.'), spec('human', 'Wrong number.')])
  const phrases = lines.phrasesFor(first).map(({ phrase }) => phrase)
  expect(phrases).not.toContain('you know the drill')
  expect(phrases).toEqual(expect.arrayContaining(['message', 'wrong number', 'voicemail']))
})

it('the interval of a share is that of Wilson', () => {
  expect(wilson(0, 100)).toEqual({ share: 0, low: 0, high: 0.037, of: 100 })
  expect(wilson(97, 100)).toMatchObject({ share: 0.97, low: 0.9155, high: 0.9897 })
})

it('the baselines follow their rules', () => {
  expect(asteriskAmd([], 0)).toEqual({ machine: true, atMs: 2500 })
  expect(asteriskAmd(talk(500, 1000), 0)).toEqual({ machine: false, atMs: 1800 })
  expect(asteriskAmd(talk(500, 4000), 0)).toEqual({ machine: true, atMs: 2000 })
  expect(silenceRule(talk(500, 1000), 0)).toEqual({ machine: false, atMs: 2000 })
  expect(silenceRule(talk(500, 4000), 0)).toEqual({ machine: true, atMs: 2500 })
})

it('a person begins a call with detection when they would without it', () => {
  const words = [{ text: 'Hello?', startMs: 500, endMs: 900, isLast: true }]
  const options = { language: 'en', answeredMs: 0 }
  const { beginMs, beginWithDetectionMs, verdicts } = judge(
    talk(500, 900),
    transcriptsOf(words, null, 7),
    6000,
    options,
  )
  expect(verdicts.map(({ verdict }) => verdict.class)).toEqual(['human'])
  expect(beginMs).not.toBeNull()
  expect(beginWithDetectionMs).toBe(beginMs)
})

it('the time to a verdict is divided, and has as its bound the first word that no person begins with', () => {
  const call = (name: BudgetedCall['class'], text: string): BudgetedCall => {
    const tokens = text.split(' ')
    const words = tokens.map((token, i) => ({
      text: token,
      startMs: 1500 + i * 300,
      endMs: 1800 + i * 300,
      isLast: i === tokens.length - 1,
    }))
    const transcripts = transcriptsOf(words, null, 7).filter(({ isFinal }) => !isFinal)
    const heard = transcripts.map((transcript, i) => ({ ...transcript, words: words.slice(0, i + 1) }))
    const verdict = { class: name, confidence: 0.9, evidence: [{ kind: 'words' as const, phrases: [] }] }
    const judgement = {
      verdicts: [{ atMs: heard[3]!.atMs - 1000 + 40, verdict }],
      beginMs: null,
      beginWithDetectionMs: null,
      greetingOver: [],
    }
    return { class: name, language: 'en', answeredMs: 1000, firstSoundMs: 500, words, transcripts: heard, judgement }
  }
  const machine = call('ivr', 'Thank you for choosing us')
  const delay = machine.transcripts[3]!.atMs - machine.words[3]!.endMs
  expect(timeBudgetOf([machine, call('human', 'Thank you very much')])).toMatchObject({
    machines: 1,
    by_words: 1,
    first_sound_p50_ms: 500,
    speech_p50_ms: 1200,
    recogniser_p50_ms: Math.round(delay),
    detector_p50_ms: 40,
    known_p50_ms: Math.round(machine.transcripts[2]!.atMs - 1000),
  })
})

it('a folder of WAV files is read by its labels, and an unknown class is refused', () => {
  const directory = mkdtempSync(join(tmpdir(), 'parley-labels-'))
  try {
    writeFileSync(join(directory, 'labels.csv'), 'file,class\na.wav,robot\n')
    expect(() => labelledFiles(directory)).toThrow('labels.csv, line 2: "robot" is no class')
  } finally {
    rmSync(directory, { recursive: true })
  }
})

it('calls are written as WAV files from the answer on, with labels and a manifest, and are judged from there', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'parley-written-'))
  try {
    // These need no speech engine.
    const specs = callsOf('tuning', 0.001).filter(call => call.class === 'fax' || call.class === 'silence')
    await writeCalls(directory, specs)
    const files = labelledFiles(directory)
    const found = files.map(({ class: name, samples }) => {
      const { verdicts } = judge(observe(samples), [], samples.length / 8, { language: 'en', answeredMs: 0 })
      return [name, verdicts.at(-1)?.verdict.class]
    })
    expect(found).toEqual([
      ['fax', 'fax'],
      ['silence', 'silence'],
    ])
    const lines = readFileSync(join(directory, 'manifest.jsonl'), 'utf8').trim().split('\n')
    const manifest = lines.map(line => JSON.parse(line) as Record<string, unknown>)
    expect(manifest.map(({ id, seed }) => ({ id, seed }))).toEqual(specs.map(({ id, seed }) => ({ id, seed })))
    expect(files[0]!.samples.length / 8).toBeGreaterThan(manifest[0]!.firstSoundMs as number)
  } finally {
    rmSync(directory, { recursive: true })
  }
})
