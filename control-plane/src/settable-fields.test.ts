import { readdirSync, readFileSync, statSync } from 'node:fs'
import { operations } from '@parley/contract'
import { type DraftEnvironment, readDraft, validate } from '@parley/flow'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { FIELD_READERS, type FieldReader } from './testing/field-readers.ts'
import {
  DESCRIBED_AS_WITHOUT_EFFECT,
  FIELDS_WITHOUT_EFFECT,
  type FieldsWithoutEffect,
} from './testing/fields-without-effect.ts'
import { settableFields } from './testing/settable-fields.ts'

const ROOT = new URL('../../', import.meta.url)
const EMPTY_ENVIRONMENT: DraftEnvironment = {
  models: [],
  voices: [],
  trunks: [],
  numbers: [],
  secrets: [],
  knowledge_ready: false,
  document_ids: [],
}
const fields = settableFields(operations)
/** Fields for programs that draw a flow: only the answer of `drafts.get` contains them. */
const FOR_DISPLAY = /^(Node\[[a-z_]+\]\.display_position|DisplayPosition\.[xy])$/
/** How a caller sounds, which only trials with audio read. */
const OF_AUDIO =
  /^TestCase\.(voice\b|caller\[script\]\.steps\.(plays\.(kind|beep)|level_db|pause_before_ms|interrupt_at_ms)$|caller\[persona\]\.behavior\.(interrupts|backchannels)$)/
const withoutEffect = new Set([
  ...FIELDS_WITHOUT_EFFECT.flatMap(({ fields }) => fields.split(' ')),
  ...DESCRIBED_AS_WITHOUT_EFFECT,
])

/** The parts of `Schema.field`; the discriminator of a union may contain dots. */
function partsOf(field: string): { readonly schema: string; readonly name: string } {
  const at = field.lastIndexOf('.')
  return { schema: field.slice(0, at), name: field.slice(at + 1) }
}

function readersOf(field: string): FieldReader[] {
  const { schema, name } = partsOf(field)
  return FIELD_READERS.filter(([of, names]) => names.split(' ').includes(name) && matches(of, schema))
}

function matches(pattern: string, schema: string): boolean {
  const escaped = pattern.split('*').map(part => part.replace(/[.[\]|]/g, '\\$&'))
  return new RegExp(`^${escaped.join('.*')}$`).test(schema)
}

const isAccountedFor = (field: string) =>
  withoutEffect.has(field) || FOR_DISPLAY.test(field) || OF_AUDIO.test(field) || readersOf(field).length > 0

/** The text of the files at `paths`, files or folders separated by spaces. */
function textOf(paths: string, isWanted: (file: string) => boolean): string {
  return paths
    .split(' ')
    .flatMap(path => {
      const url = new URL(path, ROOT)
      if (!statSync(url).isDirectory()) return [readFileSync(url, 'utf8')]
      return readdirSync(url, { recursive: true, encoding: 'utf8' })
        .filter(file => /\.(ts|sql)$/.test(file) && isWanted(file))
        .map(file => readFileSync(new URL(`${path}/${file}`, ROOT), 'utf8'))
    })
    .join('\n')
}

const isTest = (file: string) => /\.test\.ts$/.test(file)
const isCode = (file: string) =>
  !isTest(file) && !/(^|\/)(testing|fixtures)\/|\.fixture\.ts$|check-not-executed/.test(file)

function draftWith({ node, providers, ...rest }: FieldsWithoutEffect['draft']) {
  const own = {
    stt: { provider: 'simulated', model: 'tones-1' },
    llm: {
      model: { model_id: 'rules-1', provider: 'parley', tier: 'platform-served' },
      provider: 'simulated_hosted',
    },
    tts: { provider: 'simulated', model: 'tones-1' },
  }
  return readDraft({
    name: 'An agent',
    providers: {
      stt: { ...own.stt, ...providers?.stt },
      llm: { ...own.llm, ...providers?.llm },
      tts: { ...own.tts, ...providers?.tts },
    },
    flow: { start_node_id: 'hi', nodes: [node ?? { id: 'hi', type: 'end' }] },
    ...rest,
  })
}

describe('every field that a request may set', () => {
  it('every settable field is read by code or registered as without effect', () => {
    expect(fields.length).toBeGreaterThan(600)
    expect(fields.map(({ name }) => name).filter(name => !isAccountedFor(name))).toEqual([])
  })

  it('a new field that is in no register is reported', () => {
    const body = z.strictObject({ settings: z.strictObject({ volume: z.number() }).meta({ id: 'NewSettings' }) })
    const planted = settableFields([{ id: 'keys.create', query: null, body }])
    expect(planted.map(({ name }) => name).filter(name => !isAccountedFor(name))).toEqual([
      'keys.create.settings',
      'NewSettings.volume',
    ])
  })

  it.each(FIELD_READERS)('the readers and the tests of %s (%s) name its fields', (schema, names, code, tests) => {
    const codeText = textOf(code, isCode)
    const testText = textOf(tests, isTest)
    for (const name of names.split(' ')) {
      const word = new RegExp(`\\b${name}\\b`)
      expect(codeText.match(word), `${schema}.${name} in ${code}`).not.toBeNull()
      expect(testText.match(word), `${schema}.${name} in ${tests}`).not.toBeNull()
    }
  })

  it.each(FIELD_READERS)('the register holds no field of %s that the API does not have: %s', (schema, names) => {
    for (const name of names.split(' '))
      expect(
        fields.filter(field => partsOf(field.name).name === name && matches(schema, partsOf(field.name).schema)),
        `${schema}.${name}`,
      ).not.toEqual([])
  })
})

describe('a field for display', () => {
  it('the position of a node is stored and returned unchanged', () => {
    const display_position = { x: 12.5, y: -3 }
    const node = { id: 'hi', type: 'end' as const, display_position }
    expect(draftWith({ node }).flow.nodes[0]?.display_position).toEqual(display_position)
  })
})

describe('a field that has no effect', () => {
  it.each(FIELDS_WITHOUT_EFFECT)('$fields: validation warns at $path', ({ fields: names, draft, path, code }) => {
    const known = new Set(fields.map(({ name }) => name))
    expect(names.split(' ').filter(name => !known.has(name))).toEqual([])
    expect(validate(draftWith(draft), EMPTY_ENVIRONMENT)).toContainEqual(
      expect.objectContaining({ code: code ?? 'not_executed', severity: 'warning', path }),
    )
  })

  it.each(DESCRIBED_AS_WITHOUT_EFFECT)('the API document says that %s has no effect', name => {
    expect(fields.find(field => field.name === name)?.description).toMatch(/no effect/)
  })
})
