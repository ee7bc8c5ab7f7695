import { describe, expect, it } from 'vitest'
import { agent, content, diagnostic, gate, head, lastRun, plannedSettings, publication } from './examples/agents.ts'
import { alertEvidence, alertExamples } from './examples/alerts.ts'
import { EXAMPLES } from './examples/index.ts'
import { page } from './examples/values.ts'
import { audit, key } from './examples/workspace.ts'
import { operations } from './operations.ts'
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
  'dynamic_variables',
  'metadata',
  'cases',
])
/** Such members of single operations. */
const FREE_OF: Readonly<Record<string, readonly string[]>> = {
  'agents.export': ['agent', 'model_bindings'],
  'drafts.edit_schema': ['schema'],
}
const OPTIONAL = new Set(['fixes', 'signed_urls', 'voiceId'])

type Altered = [path: string, altered: unknown]

/** The answer with an unknown member in one of its objects, or without one of their members. */
function alterations(of: unknown, free: ReadonlySet<string>): Altered[] {
  if (Array.isArray(of))
    return of.flatMap((item, index) => within(String(index), item, free, made => of.with(index, made)))
  if (typeof of !== 'object' || of === null) return []
  const all: Altered[] = [['+', { ...of, unknown_member: 1 }]]
  for (const [name, value] of Object.entries(of)) {
    const { [name]: _, ...without } = of as Record<string, unknown>
    if (!OPTIONAL.has(name)) all.push([`-${name}`, without])
    if (!free.has(name) && !isFreeObject(value))
      all.push(...within(name, value, free, made => ({ ...of, [name]: made })))
  }
  return all
}

function within(name: string, value: unknown, free: ReadonlySet<string>, put: (made: unknown) => unknown): Altered[] {
  return alterations(value, free).map(([path, made]) => [`${name}/${path}`, put(made)])
}

/** Objects with free content are empty in the samples: exports, schemas, bindings. */
function isFreeObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 0
}

const isAccepted = (id: string, answer: unknown) => operationOf(id).output.safeParse(answer).success

const alertList = alertExamples['alerts.list'].answer
const [alertRule] = alertList.items
const ruleWith = (evidence: unknown) => ({ ...alertRule, evaluation: { ...alertRule.evaluation, evidence } })

/** The examples, and an alert rule with each kind of evidence. */
const answers: [id: string, answer: unknown][] = [
  ...operations.map(({ id }): [string, unknown] => [id, EXAMPLES[id].answer]),
  ['alerts.list', { ...alertList, items: alertEvidence.map(ruleWith) }],
]

describe('responses', () => {
  it.each(answers)('a response of %s has all its fields and no unknown one', (id, answer) => {
    expect(operationOf(id).output.parse(answer)).toEqual(answer)
    const free = new Set([...FREE, ...(FREE_OF[id] ?? [])])
    for (const [path, altered] of alterations(answer, free))
      expect([path, isAccepted(id, altered)]).toEqual([path, false])
  })

  it('an agent without head, draft or runs has null in their place', () => {
    expect(isAccepted('agents.get', { ...agent, head: null, draft: null, last_run: null })).toBe(true)
    expect(isAccepted('agents.get', { ...agent, head: { ...head, channels: [] } })).toBe(false)
    expect(isAccepted('agents.get', { ...agent, last_run: { ...lastRun, state: 'sleeping' } })).toBe(false)
    expect(isAccepted('agents.get', { ...agent, updated_at: '2026-01-01T00:00:00Z' })).toBe(false)
  })

  it('the response to an import has one of the four outcomes', () => {
    const { answer } = EXAMPLES['agents.import']
    for (const outcome of ['create_agent', 'open_draft', 'replace_draft', 'unchanged'])
      expect(isAccepted('agents.import', { ...answer, outcome })).toBe(true)
    expect(isAccepted('agents.import', { ...answer, outcome: 'published' })).toBe(false)
  })

  it('the secret of an API key is shown at creation and rotation only', () => {
    expect(isAccepted('keys.revoke', { ...key, secret: 's'.repeat(20) })).toBe(false)
    for (const length of [15, 257])
      expect(isAccepted('keys.create', { ...key, secret: 's'.repeat(length) })).toBe(false)
    const sandbox = EXAMPLES['environments.ensure_sandbox'].answer
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
    const set = plannedSettings
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
