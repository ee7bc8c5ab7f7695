import type { OperationId, RawInput, Scope } from '@parley/contract'
import type { TestDatabase } from '@parley/store/testing'
import { agentHandlers } from '../handlers/agents.ts'
import { catalogueHandlers } from '../handlers/catalogue.ts'
import { draftHandlers } from '../handlers/drafts.ts'
import { exchangeHandlers } from '../handlers/exchange.ts'
import { publicationHandlers } from '../handlers/publications.ts'
import { testRunHandlers } from '../handlers/test-runs.ts'
import { testSuiteHandlers } from '../handlers/test-suites.ts'
import { type Called, callDirectly, type DirectCalls } from './direct-calls.ts'
import { testPlatform } from './test-platform.ts'

/** A revision of a draft, in the form of requests. */
export interface DraftRevisionRef {
  readonly draft_id: string
  readonly expected_revision: number
}

/** An environment, and calls of the operations on its agents. */
export class AgentFixture {
  readonly test: TestDatabase
  readonly scope: Scope
  readonly #calls: DirectCalls

  /** `overrides` replace the defaults of the calls. */
  constructor(test: TestDatabase, scope: Scope, overrides: Partial<DirectCalls> = {}) {
    this.test = test
    this.scope = scope
    const handlers = {
      ...agentHandlers,
      ...draftHandlers,
      ...publicationHandlers,
      ...exchangeHandlers,
      ...catalogueHandlers,
      ...testSuiteHandlers,
      ...testRunHandlers,
    }
    this.#calls = { database: test.database, scope, platform: testPlatform(), handlers, ...overrides }
  }

  static async open(test: TestDatabase, overrides: Partial<DirectCalls> = {}): Promise<AgentFixture> {
    return new AgentFixture(test, await test.scope(), overrides)
  }

  call(id: OperationId, raw: RawInput = {}): Promise<Called> {
    return callDirectly(this.#calls, id, raw)
  }

  /** Creates an agent; resolves with the revision of its draft. */
  async create(agent_id: string, name = agent_id, template = 'phone_outbound'): Promise<DraftRevisionRef> {
    const { body } = await this.call('agents.create', { body: { template, name, agent_id } })
    return { draft_id: body.draft.draft_id, expected_revision: body.draft.revision }
  }

  /** Edits the draft; resolves with its new revision. */
  async edit(agent_id: string, at: DraftRevisionRef, ...edits: unknown[]): Promise<DraftRevisionRef> {
    const { status, body } = await this.call('drafts.edit', { params: { agent_id }, body: { ...at, edits } })
    if (status !== 200) throw new Error(JSON.stringify(body))
    return { draft_id: body.draft_id, expected_revision: body.revision }
  }

  publish(agent_id: string, at: DraftRevisionRef, test = false): Promise<Called> {
    return this.call('publications.publish', { params: { agent_id }, body: { ...at, test } })
  }

  async summary(agent_id: string): Promise<Called['body']> {
    return (await this.call('agents.get', { params: { agent_id } })).body
  }

  /** Stores a secret with the versions 1 to `versions`; the values cannot be decrypted. */
  async secret(secret_id: string, kind: string, versions = 1): Promise<void> {
    const { owner } = this.test
    const tenant = this.scope.tenant_id
    await owner.query('insert into parley.secrets (tenant_id, secret_id, kind, version) values ($1, $2, $3, $4)', [
      tenant,
      secret_id,
      kind,
      versions,
    ])
    await owner.query(
      `insert into parley.secret_versions (tenant_id, secret_id, version, sealed)
       select $1, $2, n, '\\x00' from generate_series(1, $3::integer) n`,
      [tenant, secret_id, versions],
    )
  }

  /** Stores a trunk with these numbers. */
  async trunk(trunk_id: string, ...numbers: string[]): Promise<void> {
    const { owner } = this.test
    const tenant = this.scope.tenant_id
    await owner.query(
      `insert into parley.trunks (tenant_id, trunk_id, name, provider, termination_uri, inbound)
       values ($1, $2, $2, 'generic_sip', 'sbc.example.com', true)`,
      [tenant, trunk_id],
    )
    for (const number of numbers)
      await owner.query('insert into parley.numbers (tenant_id, trunk_id, phone_number) values ($1, $2, $3)', [
        tenant,
        trunk_id,
        number,
      ])
  }
}

/** A pattern that matches a refusal with this code, reason and details. */
export function refusal(code: string, reason?: string, details: object = {}) {
  return { body: { error: { code, ...(reason !== undefined && { details: { reason, ...details } }) } } }
}

/** Every item of a list, page by page; `between` runs after each page. */
export async function everyPage<Item>(
  page: (cursor: string | undefined) => Promise<{ readonly items: readonly Item[]; readonly next: string | null }>,
  between: () => Promise<unknown> = async () => {},
): Promise<Item[]> {
  const all: Item[] = []
  let cursor: string | undefined
  for (;;) {
    const { items, next } = await page(cursor)
    all.push(...items)
    if (next === null) return all
    cursor = next
    await between()
  }
}
