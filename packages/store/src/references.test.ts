import { draftContent, type Scope } from '@parley/contract'
import { jsonSchema } from '@parley/contract/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { SECRET_PINS, secretReferences } from './references.ts'
import { type TestDatabase, testDatabase } from './testing/index.ts'

let test: TestDatabase
let scope: Scope

beforeAll(async () => {
  test = await testDatabase()
})
afterAll(() => test?.close())
beforeEach(async () => {
  scope = await test.scope()
})

const references = (id: string, versions: string[]) =>
  secretReferences(test.database.within(scope), scope, id, versions)

async function draft(content: unknown): Promise<string> {
  const { rows } = await test.owner.query(
    `with agent as (
       insert into parley.agents (tenant_id, agent_id, name) values ($1, uuidv7()::text, 'A') returning agent_id
     )
     insert into parley.drafts (tenant_id, agent_id, content) select $1, agent_id, $2 from agent returning draft_id`,
    [scope.tenant_id, JSON.stringify(content)],
  )
  return rows[0].draft_id
}

/** A document with `value` at a SQL/JSON path, behind another element wherever the path passes an array. */
function documentWith(path: string, value: unknown): unknown {
  const steps = path.slice(2).split('.')
  return steps.reduceRight<unknown>((inner, step) => {
    const name = step.replace('[*]', '')
    return { [name]: step.endsWith('[*]') ? [{ id: 'another' }, inner] : inner }
  }, value)
}

interface SchemaPart {
  readonly $ref?: string
  readonly properties?: Readonly<Record<string, SchemaPart>>
  readonly items?: SchemaPart
  readonly anyOf?: readonly SchemaPart[]
  readonly oneOf?: readonly SchemaPart[]
}

/** Where a JSON Schema has an object with an `id` and a `version`, as SQL/JSON paths. */
function pinsIn(root: SchemaPart & { readonly $defs: Readonly<Record<string, SchemaPart>> }): string[] {
  const found = new Set<string>()
  const walk = (schema: SchemaPart, path: string): void => {
    if (schema.$ref !== undefined) walk(root.$defs[schema.$ref.split('/').at(-1)!]!, path)
    const { properties = {} } = schema
    if (properties.id !== undefined && properties.version !== undefined) found.add(path)
    for (const [name, member] of Object.entries(properties)) walk(member, `${path}.${name}`)
    if (schema.items !== undefined) walk(schema.items, `${path}[*]`)
    for (const choice of [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]) walk(choice, path)
  }
  walk(root, '$')
  return [...found].sort()
}

describe('drafts and publications that pin a secret', () => {
  it('the search covers every field in which a draft may pin a secret', () => {
    const schema = jsonSchema(draftContent, 'output') as unknown as Parameters<typeof pinsIn>[0]
    expect(pinsIn(schema)).toEqual([...SECRET_PINS].sort())
  })

  it.each(SECRET_PINS)('a pinned secret is found at %s', async path => {
    const pinning = await draft(documentWith(path, { id: 'sip', version: '2', provider: 'x' }))
    await draft(documentWith(path, { id: 'sip', version: '3' }))
    await draft(documentWith(path, { id: 'sip2', version: '2' }))
    expect(await references('sip', ['1', '2'])).toEqual([{ kind: 'draft', id: pinning }])
  })

  it('a field that only resembles a pin is not reported', async () => {
    const pin = { id: 'sip', version: '1' }
    await draft({
      source: { unplaced: { '/x': pin } },
      actions: [{ parameters: { default: pin }, auth: null }],
      flow: { nodes: [pin, { finetune_conversation_examples: [pin], model_choice: { model: pin } }] },
      notification: null,
    })
    expect(await references('sip', ['1'])).toEqual([])
    expect(await references('sip', [])).toEqual([])
  })

  it('secret ids with characters of the JSON path language are found', async () => {
    const id = 'a:1._-$"'
    const pinning = await draft({ notification: { secret: { id, version: '1' } } })
    expect(await references(id, ['1'])).toEqual([{ kind: 'draft', id: pinning }])
    expect(await references('a', ['1'])).toEqual([])
  })

  it('references are searched in one environment and at most 200 are named', async () => {
    await test.owner.query(
      `insert into parley.trunks (tenant_id, trunk_id, name, provider, termination_uri, inbound, auth_secret_id, auth_secret_version)
       select $1::uuid, 't' || n, 'T', 'generic_sip', 'a', false, 'sip', '1' from generate_series(1, 250) n`,
      [scope.tenant_id],
    )
    expect(await references('sip', ['1'])).toHaveLength(200)
    expect(await references('sip', ['2'])).toEqual([])
    scope = await test.scope()
    expect(await references('sip', ['1'])).toEqual([])
  })
})
