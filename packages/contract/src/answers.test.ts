import { describe, expect, it } from 'vitest'
import {
  ANSWERS,
  agent,
  audit,
  content,
  diagnostic,
  gate,
  head,
  key,
  lastRun,
  page,
  publication,
} from './testing/answers.ts'
import { operationOf } from './testing/requests.ts'

/** Members whose content is free; and members that are optional or have a default. */
const FREE = new Set([
  'settings',
  'flow',
  'unplaced',
  'default_dynamic_variables',
  'input_schema',
  'output_schema',
  'node_types',
])
const OPTIONAL = new Set(['fixes', 'signed_urls'])

/** The answer with an unknown member in one of its objects, or without one of their members. */
function alterations(of: unknown): [path: string, altered: unknown][] {
  if (Array.isArray(of)) return of.flatMap((item, index) => within(String(index), item, made => of.with(index, made)))
  if (typeof of !== 'object' || of === null) return []
  const all: [string, unknown][] = [['+', { ...of, unknown_member: 1 }]]
  for (const [name, value] of Object.entries(of)) {
    const { [name]: _, ...without } = of as Record<string, unknown>
    if (!OPTIONAL.has(name)) all.push([`-${name}`, without])
    if (!FREE.has(name) && !isFreeObject(value)) all.push(...within(name, value, made => ({ ...of, [name]: made })))
  }
  return all
}

function within(name: string, value: unknown, put: (made: unknown) => unknown): [string, unknown][] {
  return alterations(value).map(([path, made]) => [`${name}/${path}`, put(made)])
}

/** Objects with free content are empty in the samples: exports, schemas, bindings. */
function isFreeObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 0
}

const isAccepted = (id: string, answer: unknown) => operationOf(id).output.safeParse(answer).success

describe('responses', () => {
  it.each(ANSWERS)('a response of %s has all its fields and no unknown one', (id, answer) => {
    expect(operationOf(id).output.parse(answer)).toEqual(answer)
    for (const [path, altered] of alterations(answer)) expect([path, isAccepted(id, altered)]).toEqual([path, false])
  })

  it('an agent without head, draft or runs has null in their place', () => {
    expect(isAccepted('agents.get', { ...agent, head: null, draft: null, last_run: null })).toBe(true)
    expect(isAccepted('agents.get', { ...agent, head: { ...head, channels: [] } })).toBe(false)
    expect(isAccepted('agents.get', { ...agent, last_run: { ...lastRun, state: 'sleeping' } })).toBe(false)
    expect(isAccepted('agents.get', { ...agent, updated_at: '2026-01-01T00:00:00Z' })).toBe(false)
  })

  it('the response to an import has one of the four outcomes', () => {
    const answer = ANSWERS.find(([id]) => id === 'agents.import')![1]
    for (const outcome of ['create_agent', 'open_draft', 'replace_draft', 'unchanged'])
      expect(isAccepted('agents.import', { ...answer, outcome })).toBe(true)
    expect(isAccepted('agents.import', { ...answer, outcome: 'published' })).toBe(false)
  })

  it('the secret of an API key is shown at creation and rotation only', () => {
    expect(isAccepted('keys.revoke', { ...key, secret: 's'.repeat(20) })).toBe(false)
    for (const length of [15, 257])
      expect(isAccepted('keys.create', { ...key, secret: 's'.repeat(length) })).toBe(false)
    const sandbox = ANSWERS.find(([id]) => id === 'environments.ensure_sandbox')![1]
    expect(isAccepted('environments.ensure_sandbox', { ...sandbox, key: null })).toBe(true)
    for (const prefix of ['abc', 'x'.repeat(33)]) expect(isAccepted('keys.revoke', { ...key, prefix })).toBe(false)
  })

  it('diagnostics have bounded texts, and their fixes are valid draft edits', () => {
    const validate = (change: object) =>
      isAccepted('drafts.validate', { revision: 1, diagnostics: [{ ...diagnostic, ...change }] })
    const [fix] = diagnostic.fixes
    expect(validate({ fixes: undefined })).toBe(true)
    expect(validate({ fixes: Array(8).fill(fix) })).toBe(true)
    expect(validate({ fixes: Array(9).fill(fix) })).toBe(false)
    expect(validate({ fixes: [{ ...fix, edits: [] }] })).toBe(false)
    expect(validate({ fixes: [{ ...fix, edits: [{ type: 'flow.start', component_id: null, node_id: 'n' }] }] })).toBe(
      true,
    )
    expect(validate({ fixes: [{ ...fix, edits: [{ type: 'no.such.edit' }] }] })).toBe(false)
    for (const [name, max] of [
      ['code', 128],
      ['path', 1024],
      ['message', 4096],
    ] as const) {
      expect(validate({ [name]: 'x'.repeat(max) })).toBe(true)
      expect(validate({ [name]: '' })).toBe(name !== 'code')
      expect(validate({ [name]: 'x'.repeat(max + 1) })).toBe(false)
    }
  })

  it('an audit item has its action and its resource', () => {
    const item = (change: object) => isAccepted('audit.list', page({ ...audit, ...change }))
    expect(item({ resource: null })).toBe(true)
    for (const action of ['', 'Keys.revoke', '1x', `a${'x'.repeat(128)}`]) expect(item({ action })).toBe(false)
    expect(item({ resource: { ...audit.resource, kind: 'team' } })).toBe(false)
    for (const id of ['', 'x'.repeat(513)]) expect(item({ resource: { ...audit.resource, id } })).toBe(false)
    expect(item({ request_id: 'x'.repeat(257) })).toBe(false)
  })

  it('a plan has every default filled in', () => {
    const draft = { ...content, source: null }
    const answer = (plan: object) => ({ publication, gate, certificate: null, plan, draft, warnings: [] })
    const plan = { plan_schema_version: 1, ...content }
    expect(isAccepted('publications.get', answer(plan))).toBe(false)
    const set = {
      voiceSpeed: 1,
      voiceTemperature: 1,
      volume: 1,
      language: 'en',
      responsiveness: 1,
      interruptionSensitivity: 1,
      backchannelFrequency: 0.8,
      enableBackchannel: false,
      normalizeForSpeech: false,
      openerWaitsForCallee: false,
      allowUserDtmf: true,
      allowDtmfInterruption: false,
      backchannelWords: [],
      boostedKeywords: [],
      reminderTriggerMs: 10_000,
      reminderMaxCount: 1,
      maxCallDurationMs: 3_600_000,
      endCallAfterSilenceMs: 600_000,
      ringDurationMs: 30_000,
      beginMessageDelayMs: 0,
      voicemail: { enabled: false, detectionTimeoutMs: 30_000, action: 'hangup' },
      ambientSound: 'none',
      ambientSoundVolume: 1,
      pronunciationDictionary: [],
      denoisingMode: 'noise-cancellation',
      sttMode: 'fast',
      userDtmfOptions: { digitLimit: null, terminationKey: null, timeoutMs: 3000 },
      channels: ['cloud', 'phone'],
      timezone: 'UTC',
      toolCallStrictMode: true,
      ivr: { enabled: false, action: 'hangup' },
      callScreening: { enabled: false, identity: '', purpose: '' },
      fallbackVoiceIds: [],
      vocabSpecialization: 'general',
    }
    expect(isAccepted('publications.get', answer({ ...plan, settings: set }))).toBe(true)
    expect(isAccepted('publications.get', answer({ ...plan, settings: set, source: null }))).toBe(false)
    for (const inner of [
      { voicemail: { enabled: false, action: 'hangup' } },
      { userDtmfOptions: { digitLimit: null, timeoutMs: 3000 } },
      { ivr: { enabled: false } },
      { callScreening: { enabled: false, identity: '' } },
    ])
      expect(isAccepted('publications.get', answer({ ...plan, settings: { ...set, ...inner } }))).toBe(false)
  })
})
