import { randomBytes } from 'node:crypto'
import type { OperationId, RawInput, Scope } from '@parley/contract'
import { MasterKeySealer } from '@parley/store'
import { type TestDatabase, testDatabase } from '@parley/store/testing'
import { alertHandlers } from '../handlers/alerts.ts'
import { auditHandlers } from '../handlers/audit.ts'
import { callLimitHandlers } from '../handlers/call-limit.ts'
import { environmentHandlers } from '../handlers/environments.ts'
import { keyHandlers } from '../handlers/keys.ts'
import { knowledgeHandlers } from '../handlers/knowledge.ts'
import { numberHandlers } from '../handlers/numbers.ts'
import { secretHandlers } from '../handlers/secrets.ts'
import { tenantSettingsHandlers } from '../handlers/tenant-settings.ts'
import { testRunHandlers } from '../handlers/test-runs.ts'
import { testSuiteHandlers } from '../handlers/test-suites.ts'
import { trunkHandlers } from '../handlers/trunks.ts'
import { type Called, callDirectly } from './direct-calls.ts'
import { testPlatform } from './test-platform.ts'

const handlers = {
  ...alertHandlers,
  ...auditHandlers,
  ...callLimitHandlers,
  ...environmentHandlers,
  ...keyHandlers,
  ...knowledgeHandlers,
  ...numberHandlers,
  ...secretHandlers,
  ...tenantSettingsHandlers,
  ...testRunHandlers,
  ...testSuiteHandlers,
  ...trunkHandlers,
}

/** An environment without agents' handlers: its workspace and telephony operations on a real database. */
export interface Workspace {
  readonly test: TestDatabase
  /** Calls an operation with an admin key of that environment. */
  call(scope: Scope, id: OperationId, raw?: RawInput): Promise<Called>
  /** An environment with call capacity set by staff. */
  configured(): Promise<Scope>
  /** Creates a trunk, inbound by default, and the secret of its password. */
  trunk(scope: Scope, trunk_id: string, inbound?: boolean): Promise<Called['body']>
  /** Stores an agent with version 0, which is its head unless `test` or `headless`. */
  publishedAgent(scope: Scope, agent_id: string, options?: PublishedOptions): Promise<void>
  close(): Promise<void>
}

interface PublishedOptions {
  readonly channels?: readonly ('cloud' | 'phone')[]
  readonly test?: boolean
  readonly headless?: boolean
  readonly archived?: boolean
  readonly plan?: object
}

/** A pattern that matches a refusal with this code and reason. */
export function refused(code: string, reason?: string) {
  return { body: { error: { code, ...(reason !== undefined && { details: { reason } }) } } }
}

/** Number of answers by status, or by the reason or code of the refusal. */
export function tally(answers: readonly Called[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { status, body } of answers) {
    const name = body.error === undefined ? String(status) : (body.error.details?.reason ?? body.error.code)
    counts[name] = (counts[name] ?? 0) + 1
  }
  return counts
}

export async function openWorkspace(): Promise<Workspace> {
  const test = await testDatabase()
  const sealer = new MasterKeySealer(new Map([[1, randomBytes(32)]]))
  const platform = { ...testPlatform(), sealer }
  const call: Workspace['call'] = (scope, id, raw) =>
    callDirectly({ database: test.database, scope, handlers, platform }, id, raw)
  return {
    test,
    call,
    close: () => test.close(),
    async configured() {
      const scope = await test.scope()
      await test.owner.query('update parley.tenants set concurrent_capacity = 5 where tenant_id = $1', [
        scope.tenant_id,
      ])
      return scope
    },
    async trunk(scope, trunk_id, inbound = true) {
      await call(scope, 'secrets.put', { params: { secret_id: 'sip' }, body: { kind: 'sip_auth', value: 'pw' } })
      const { body } = await call(scope, 'trunks.create', { body: trunkBody(trunk_id, { inbound }) })
      if (body.error !== undefined) throw new Error(JSON.stringify(body))
      return body
    },
    async publishedAgent({ tenant_id }, agent_id, options = {}) {
      const { channels = ['phone'], test: isTest = false, archived = false, plan = {} } = options
      const hasHead = !isTest && options.headless !== true
      await test.owner.query(
        `insert into parley.agents (tenant_id, agent_id, name, head_version, head_channels, next_version, archived_at)
         values ($1, $2, $2, $3, $4, 1, $5)`,
        [tenant_id, agent_id, hasHead ? 0 : null, hasHead ? channels : [], archived ? '2026-01-01' : null],
      )
      await test.owner.query(
        `insert into parley.publications (tenant_id, agent_id, version, digest, plan_schema_version, channels, languages,
           source_kind, published_by, test, draft_id, draft_revision, plan, draft, warnings)
         values ($1, $2, 0, 'sha256:' || repeat('0', 64), 1, $3, '{en}', 'api', '{}', $4, uuidv7(), 1, $5, '{}', '[]')`,
        [tenant_id, agent_id, channels, isTest, JSON.stringify(plan)],
      )
    },
  }
}

/** The body of `trunks.create`, with version 1 of the secret `sip`; `overrides` replace members. */
export function trunkBody(trunk_id: string, overrides: object = {}) {
  return {
    trunk_id,
    name: 'Carrier',
    provider: 'generic_sip',
    termination_uri: 'sbc.example.com',
    auth_username: 'parley',
    auth_secret: { id: 'sip', version: '1' },
    ...overrides,
  }
}
