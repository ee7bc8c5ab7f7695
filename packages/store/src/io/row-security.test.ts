import type { Scope } from '@parley/contract'
import { sql } from 'kysely'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Queries } from '../protocol.ts'
import { type TestDatabase, testDatabase } from '../testing/index.ts'
import { openDatabase } from './database.ts'
import { asOwner, type ProcessRole, readAddress } from './owner-connection.ts'
import { ensureLogins } from './roles.ts'

let test: TestDatabase
let app: Client
let ours: Scope
let theirs: Scope

beforeAll(async () => {
  test = await testDatabase()
  app = new Client({ connectionString: readAddress(test.owner.url).logins.all.url })
  await app.connect()
  ;[ours, theirs] = [await test.scope(), await test.scope()]
  for (const scope of [ours, theirs]) await fill(scope)
})
afterAll(async () => {
  await app?.end()
  await test?.close()
})

/** A row in every table of a tenant. */
async function fill({ tenant_id }: Scope): Promise<void> {
  const statements = [
    `insert into parley.api_keys (tenant_id, name, role, prefix, secret_hash) values ($1, 'k', 'admin', 'p', sha256(uuid_send($1::uuid)))`,
    `insert into parley.secrets (tenant_id, secret_id, kind, version) values ($1, 's', 'sip_auth', 1)`,
    `insert into parley.secret_versions (tenant_id, secret_id, version, sealed) values ($1, 's', 1, '\\x01')`,
    `insert into parley.agents (tenant_id, agent_id, name) values ($1, 'a', 'A')`,
    `insert into parley.drafts (tenant_id, agent_id, content) values ($1, 'a', '{}')`,
    `insert into parley.publications (tenant_id, agent_id, version, digest, plan_schema_version, channels, languages, source_kind,
       published_by, test, draft_id, draft_revision, plan, draft, warnings)
     values ($1, 'a', 1, 'd', 1, '{}', '{}', 'api', '{}', false, uuidv7(), 1, '{}', '{}', '[]')`,
    `insert into parley.trunks (tenant_id, trunk_id, name, provider, termination_uri, inbound) values ($1, 't', 'T', 'generic_sip', 'sip:x', false)`,
    `insert into parley.trunk_registrations (tenant_id, trunk_id, fence, engine_id, state, detail) values ($1, 't', 1, 'e', 'registered', '')`,
    `insert into parley.trunk_pings (tenant_id, trunk_id, engine_id, state, targets, checked_at) values ($1, 't', 'e', 'reachable', '[]', now())`,
    `insert into parley.numbers (tenant_id, phone_number, trunk_id) values ($1, '+1', 't')`,
    `insert into parley.test_suites (tenant_id, name, digest, cases, case_count, created_by) values ($1, 's', 'd', '[]', 0, '{}')`,
    `insert into parley.test_runs (tenant_id, test_run_id, agent_id, version, purpose, suites, estimated_usd, created_by)
     values ($1, '0b0e3c1e-5a3c-4f4e-9f57-0b0f9c1d2e3f', 'a', 1, 'manual', '[]', 0, '{}')`,
    `insert into parley.test_run_cases (tenant_id, test_run_id, place, suite_id, case_id, test_case)
     values ($1, '0b0e3c1e-5a3c-4f4e-9f57-0b0f9c1d2e3f', 1, uuidv7(), 'c', '{}')`,
    `insert into parley.test_trials (tenant_id, test_run_id, place, trial) values ($1, '0b0e3c1e-5a3c-4f4e-9f57-0b0f9c1d2e3f', 1, 1)`,
    `insert into parley.forgotten_numbers (tenant_id, phone_number, forgotten_at) values ($1, '+4930222', now())`,
    `insert into parley.release_gates (tenant_id, agent_id, candidate, settings, test_run_id)
     values ($1, 'a', 1, '{}', '0b0e3c1e-5a3c-4f4e-9f57-0b0f9c1d2e3f')`,
    `insert into parley.provider_keys (tenant_id, provider, sealed, last4, models, checked_at) values ($1, 'openai', '\\x01', '', '{}', now())`,
    `insert into parley.tombstones (tenant_id, kind, id, answer) values ($1, 'secret', 'x', '{}')`,
    `insert into parley.call_minutes (tenant_id, minute, calls) values ($1, now(), 1)`,
    `insert into parley.idempotency (tenant_id, principal, operation, key, request_hash) values ($1, 'p', 'o', 'k', '\\x01')`,
    `insert into parley.audit (tenant_id, principal, action, outcome) values ($1, '{}', 'a', 'allowed')`,
    `insert into parley.rate_cards (tenant_id, rate_card_id, effective_at, reserve_usd, rates) values ($1, 'r', now(), '{}', '[]')`,
    `insert into parley.budgets (tenant_id) values ($1)`,
    `insert into parley.run_counters (tenant_id) values ($1)`,
    `insert into parley.spend_months (tenant_id, month, spent_usd) values ($1, now(), 1)`,
    `insert into parley.runs (tenant_id, agent_id, version, channel, mode, state, trigger, test, created_at, dynamic_variables, can_dial, notifies)
     values ($1, 'a', 1, 'cloud', 'task', 'admitted', '{}', false, now(), '{}', false, false)`,
    `insert into parley.run_ownership (tenant_id, run_id, kind, admitted_at, start_before)
     select tenant_id, run_id, 'task', now(), now() from parley.runs where tenant_id = $1`,
    `insert into parley.run_events (tenant_id, run_id, seq, at, kind, fields) values ($1, uuidv7(), 1, now(), 'k', '{}')`,
    `insert into parley.run_effects (tenant_id, run_id, effect_id, effect_key, action_id, action_version, effect_kind, idempotent)
     values ($1, uuidv7(), uuidv7(), 'k', 'a', 1, 'http', false)`,
    `insert into parley.run_updates (tenant_id, run_id, revision, change, status, deadline) values ($1, uuidv7(), 1, '{}', 'acknowledged', now())`,
    `insert into parley.run_transcripts (tenant_id, run_id, state, final, utterances) values ($1, uuidv7(), 'partial', false, '[]')`,
    `insert into parley.run_recordings (tenant_id, run_id, state) values ($1, uuidv7(), 'pending')`,
    `insert into parley.usage_measurements (tenant_id, run_id, meter, quantity) values ($1, uuidv7(), 'stt_ms', 1)`,
    `insert into parley.run_messages (tenant_id, run_id, message_id, text) values ($1, uuidv7(), uuidv7(), 'Hello?')`,
    `insert into parley.run_sip_messages (tenant_id, run_id, place, at, direction, transport, source, destination, message)
     values ($1, uuidv7(), 1, now(), 'in', 'tls', '192.0.2.1:5061', '192.0.2.2:5061', 'BYE')`,
    `insert into parley.run_inputs (tenant_id, run_id, sealed, redacted) values ($1, uuidv7(), '\\x01', false)`,
    `insert into parley.outbox (tenant_id, run_id, event) values ($1, uuidv7(), 'e')`,
    `insert into parley.run_analyses (tenant_id, run_id) values ($1, uuidv7())`,
    `insert into parley.invitations (owner_id, email, role, invited_by, token_hash, expires_at)
     select owner_id, 'i@x', 'viewer', '{}', sha256(uuid_send(tenant_id)), now() from parley.tenants where tenant_id = $1`,
    `insert into parley.members (owner_id, email, role)
     select owner_id, 'm@x', 'admin' from parley.tenants where tenant_id = $1`,
    `insert into parley.login_links (token_hash, owner_id, user_id, expires_at)
     select sha256(uuid_send($1::uuid)), owner_id, user_id, now() from parley.members join parley.tenants using (owner_id)
     where tenant_id = $1`,
    `insert into parley.sessions (owner_id, token_hash, user_id)
     select owner_id, sha256(uuid_send($1::uuid)), user_id from parley.members join parley.tenants using (owner_id)
     where tenant_id = $1`,
    `insert into parley.alert_destinations (tenant_id, kind) values ($1, 'chat')`,
    `insert into parley.alert_rules (tenant_id, metric, threshold, destination_kind, enabled) values ($1, 'm', '1', 'chat', true)`,
    `insert into parley.alert_deliveries (tenant_id, alert_id, rule_revision, destination_kind, destination_revision, value, threshold,
       window_from, window_to)
     select tenant_id, alert_id, 1, 'chat', 'r', '2', '1', now(), now() from parley.alert_rules where tenant_id = $1`,
    `insert into parley.knowledge_settings (tenant_id, model) values ($1, '{}')`,
    `insert into parley.knowledge_documents (tenant_id, title, media_type, byte_size, sha256)
     values ($1, 't', 'text/plain', 1, sha256(uuid_send($1::uuid)))`,
    `insert into parley.knowledge_contents (tenant_id, document_id, content)
     select tenant_id, document_id, '\\x01' from parley.knowledge_documents where tenant_id = $1`,
    `insert into parley.knowledge_chunks (tenant_id, document_id, chunk_index, text, words)
     select tenant_id, document_id, 0, 'parking', ''::tsvector from parley.knowledge_documents where tenant_id = $1`,
    `insert into parley.knowledge_lexemes (tenant_id, lexeme, chunks) values ($1, 'l', 1)`,
    `insert into parley.knowledge_generations (tenant_id, model, state) values ($1, '{}', 'ready')`,
    `insert into parley.knowledge_embeddings (tenant_id, generation_id, document_id)
     select tenant_id, generation_id, document_id
     from parley.knowledge_documents join parley.knowledge_generations using (tenant_id) where tenant_id = $1`,
    `insert into parley.web_calls (tenant_id, run_id, token_hash, expires_at)
     select tenant_id, run_id, sha256(uuid_send($1::uuid)), now() from parley.runs where tenant_id = $1`,
    `insert into parley.site_keys (tenant_id, name, agent_id, origins, concurrent_limit, daily_limit, prefix, secret_hash)
     values ($1, 's', 'a', '{https://x}', 1, 1, 'p', sha256(uuid_send($1::uuid)))`,
    `insert into parley.call_listeners (tenant_id, run_id, offer)
     select tenant_id, run_id, 'v=0' from parley.runs where tenant_id = $1 limit 1`,
    `insert into parley.trunk_slots (tenant_id, trunk_id, next_at) values ($1, 't', now())`,
  ]
  for (const statement of statements) await test.owner.query(statement, [tenant_id])
}

/** Tables whose rows all environments of an organisation see. */
const OF_OWNERS = new Set(['organisations', 'members', 'invitations', 'login_links', 'sessions'])

/** Tables that belong to tenants or organisations, as the catalogue has them. */
async function tenantTables(): Promise<{ name: string; forced: boolean; filled: number }[]> {
  const { rows } = await test.owner.query(`
    select c.relname as name, c.relrowsecurity and c.relforcerowsecurity as forced
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'parley' and c.relkind in ('r', 'p') and exists (
      select from pg_attribute a where a.attrelid = c.oid and a.attname in ('tenant_id', 'owner_id') and not a.attisdropped)
    order by 1`)
  return Promise.all(
    rows.map(async row => {
      const count = await test.owner.query(`select count(*)::int as n from parley.${row.name}`)
      return { name: row.name, forced: row.forced, filled: count.rows[0].n }
    }),
  )
}

describe('every table of tenants', () => {
  it('every tenant table forces row security on its owner too, and holds rows in this test', async () => {
    const tables = await tenantTables()
    expect(tables.length).toBeGreaterThanOrEqual(14)
    expect(tables.filter(table => !table.forced)).toEqual([])
    // A new table needs a row in `fill`, else the tests below prove nothing of it.
    expect(tables.filter(table => table.filled < 2)).toEqual([])
  })

  it('the check reports a tenant table without row security', async () => {
    await test.owner.query('create table parley.forgotten (tenant_id uuid)')
    expect((await tenantTables()).filter(table => !table.forced)).toMatchObject([{ name: 'forgotten' }])
    await test.owner.query('drop table parley.forgotten')
  })

  it('tenant tables show the application nothing outside a tenant scope', async () => {
    for (const { name } of await tenantTables()) {
      expect((await app.query(`select * from parley.${name}`)).rows, name).toEqual([])
      expect((await app.query(`select count(*)::int as n from parley.${name}`)).rows, name).toEqual([{ n: 0 }])
    }
  })

  it('a query without a tenant condition shows a tenant only its own rows', async () => {
    for (const { name } of await tenantTables()) {
      const column = OF_OWNERS.has(name) ? 'owner_id' : 'tenant_id'
      const rows = await sql<Record<string, string>>`select * from parley.${sql.raw(name)}`.execute(
        test.database.within(ours),
      )
      const expected = OF_OWNERS.has(name) ? ours.owner_id : ours.tenant_id
      expect(rows.rows.length, name).toBeGreaterThan(0)
      expect(new Set(rows.rows.map(row => row[column])), name).toEqual(new Set([expected]))
    }
  })

  it('a tenant can neither insert rows for another tenant nor move rows to it', async () => {
    const refused = { code: '42501' }
    const write = (work: (tx: Queries) => Promise<unknown>) => test.database.transaction(ours, work)
    const foreign = { tenant_id: theirs.tenant_id, agent_id: 'mine', name: 'mine' }
    await expect(write(tx => tx.insertInto('agents').values(foreign).execute())).rejects.toMatchObject(refused)
    await expect(
      write(tx => tx.updateTable('audit').set({ tenant_id: theirs.tenant_id }).execute()),
    ).rejects.toMatchObject(refused)
    await expect(
      write(tx =>
        tx.insertInto('tenants').values({ owner_id: theirs.owner_id, environment: 'sandbox', name: 'x' }).execute(),
      ),
    ).rejects.toMatchObject(refused)
    await write(async tx => {
      const changed = await tx
        .updateTable('agents')
        .set({ name: 'x' })
        .where('tenant_id', '=', theirs.tenant_id)
        .executeTakeFirst()
      const deleted = await tx.deleteFrom('audit').where('tenant_id', '=', theirs.tenant_id).executeTakeFirst()
      expect([changed.numUpdatedRows, deleted.numDeletedRows]).toEqual([0n, 0n])
    })
  })

  it('an organisation sees its environments, and the rows of an environment are visible to that environment alone', async () => {
    const sandbox = await test.scope({ environment: 'sandbox', owner_id: ours.owner_id })
    const tenants = await test.database.within(sandbox).selectFrom('tenants').select('tenant_id').execute()
    expect(new Set(tenants.map(tenant => tenant.tenant_id))).toEqual(new Set([ours.tenant_id, sandbox.tenant_id]))
    expect(await test.database.within(sandbox).selectFrom('agents').selectAll().execute()).toEqual([])
  })
})

describe('tables of processes', () => {
  it('leases and engines are hidden from sessions in the scope of a tenant', async () => {
    await test.database.leases.acquire('test/hidden', 'somebody', 60_000)
    await test.database.runs.engines.register({ engine_id: 'e', addresses: {}, capacity: 1 })
    for (const table of ['leases', 'engines']) {
      const { rows } = await test.owner.query(`select count(*)::int as n from parley.${table}`)
      expect(rows[0].n, table).toBeGreaterThan(0)
      const seen = await sql`select 1 from parley.${sql.raw(table)}`.execute(test.database.within(ours))
      expect(seen.rows, table).toEqual([])
    }
    const taken = test.database.transaction(ours, tx =>
      sql`insert into parley.leases (name, owner, expires_at) values ('test/mine', 'tenant', now())`.execute(tx),
    )
    await expect(taken).rejects.toMatchObject({ code: '42501' })
  })

  it('an environment changes its own row and no other of its organisation', async () => {
    const sandbox = await test.scope({ environment: 'sandbox', owner_id: theirs.owner_id })
    const rename = (tenant_id: string) =>
      test.database.transaction(sandbox, tx =>
        tx.updateTable('tenants').set({ display_name: 'x' }).where('tenant_id', '=', tenant_id).executeTakeFirst(),
      )
    expect((await rename(theirs.tenant_id)).numUpdatedRows).toBe(0n)
    expect((await rename(sandbox.tenant_id)).numUpdatedRows).toBe(1n)
  })
})

describe("the application's role", () => {
  it.each([
    'set role parley_system',
    'set role postgres',
    'set role parley_app',
    'set session authorization postgres',
    'alter table parley.agents disable row level security',
    'alter table parley.agents no force row level security',
    'create policy all_of_it on parley.agents using (true)',
    'drop table parley.agents',
    'create table parley.mine (a int)',
    'create temporary table mine (a int)',
    "insert into parley.tenants (owner_id, environment, name) select owner_id, 'sandbox', 'x' from parley.tenants",
    'create function parley.mine() returns int language sql return 1',
    'grant parley_system to current_user',
    'alter role current_user bypassrls',
    'truncate parley.agents',
    'copy parley.agents to program $$true$$',
    "select pg_read_file('/etc/passwd')",
    'select * from parley.master_key_checks',
    'select * from parley.migrations',
    'alter function parley.key_of rename to other',
  ])('the application role may not: %s', async statement => {
    await expect(app.query(statement)).rejects.toMatchObject({ code: expect.stringMatching(/^(42501|0LP01|22023)$/) })
  })

  it('the application role gets an error, not fewer rows, when it turns row security off', async () => {
    await app.query('set row_security = off')
    await expect(app.query('select * from parley.agents')).rejects.toMatchObject({ code: '42501' })
    await app.query('reset row_security')
  })

  it.each([
    ['superuser', 'alter role %I superuser', 'alter role %I nosuperuser'],
    ['BYPASSRLS', 'alter role %I bypassrls', 'alter role %I nobypassrls'],
    ['parley_system', 'grant parley_system to %I', 'revoke parley_system from %I'],
    ['owns', 'alter table parley.tombstones owner to %I', 'alter table parley.tombstones owner to postgres'],
  ])('the pool refuses a role that bypasses row security (%s)', async (named, spoil, mend) => {
    const other = await testDatabase()
    const run = (statement: string) =>
      other.owner.query(statement.replace('%I', readAddress(other.owner.url).logins.all.role))
    try {
      await run(spoil)
      await expect(openDatabase({ ownerUrl: other.owner.url })).rejects.toMatchObject({
        code: 'database_misconfigured',
        message: expect.stringContaining(named),
      })
      await run(mend)
    } finally {
      await other.close()
    }
  })
})

/** The processes that call each function across tenants. */
const CALLERS: Record<string, readonly ProcessRole[]> = {
  key_of: ['api'],
  touch_keys: ['api'],
  session_of: ['api'],
  touch_sessions: ['api'],
  link_of: ['api'],
  members_of: ['api'],
  make_sandbox: ['api'],
  web_call_of: ['api'],
  site_key_of: ['api'],
  is_site_origin: ['api'],
  search_words: ['api', 'engine', 'worker'],
  renew_runs: ['engine', 'worker'],
  waiting_runs: ['engine', 'worker'],
  telephony_revision: ['engine'],
  inbound_trunks: ['engine'],
  trunks_reached: ['engine'],
  pinged_trunks: ['engine'],
  dialling_trunks: ['engine'],
  environments_due: ['worker'],
  environments_with_trials: ['worker'],
  knowledge_due: ['worker'],
  reap_runs: ['worker'],
  reap_rested_runs: ['worker'],
  expire_runs: ['worker'],
  expire_updates: ['worker'],
  expire_recordings: ['worker'],
  expire_transcripts: ['worker'],
  forget_idempotency: ['worker'],
  prune_forgotten_numbers: ['worker'],
  recordings_to_join: ['worker'],
  take_analyses: ['worker'],
  take_outbox: ['worker'],
}

describe('the logins of processes', () => {
  let logins: Record<ProcessRole, Client>
  beforeAll(async () => {
    const address = readAddress(test.owner.url)
    await asOwner(address, owner => ensureLogins(owner, address))
    const open = async (role: ProcessRole) => {
      const client = new Client({ connectionString: address.logins[role].url })
      await client.connect()
      return client
    }
    logins = { api: await open('api'), worker: await open('worker'), engine: await open('engine') }
  })
  afterAll(async () => {
    for (const client of Object.values(logins ?? {})) await client.end()
  })

  it('each function across tenants is callable by the processes that need it, and by no other role within tenants', async () => {
    const { rows } = await test.owner.query(`
      select p.proname as name, p.oid::regprocedure::text as signature,
        has_function_privilege('parley_app', p.oid, 'execute') as app
      from pg_proc p join pg_namespace n on n.oid = p.pronamespace where n.nspname = 'parley' and p.prosecdef`)
    for (const { name, signature, app } of rows) {
      expect(app, name).toBe(false)
      const callers = []
      for (const [role, client] of Object.entries(logins)) {
        const may = await client.query("select has_function_privilege($1, 'execute') as may", [signature])
        if (may.rows[0].may) callers.push(role)
      }
      expect(callers.sort(), name).toEqual(CALLERS[name])
    }
  })

  it.each([
    ['api', 'select * from parley.take_outbox(1, 1, 1, array[]::uuid[], null)'],
    ['api', "select * from parley.reap_runs('x', null, 1, 1)"],
    ['api', 'select * from parley.leases'],
    ['api', 'delete from parley.engines'],
    ['api', 'set role parley_worker'],
    ['api', 'grant parley_worker to current_user'],
    ['engine', 'select * from parley.expire_runs(1)'],
    ['engine', "select * from parley.key_of('\\x00')"],
    ['worker', "select * from parley.key_of('\\x00')"],
    ['worker', 'select * from parley.inbound_trunks()'],
  ] as const)('the login of the %s process may not: %s', async (role, statement) => {
    const refusal = logins[role].query(statement)
    await expect(refusal).rejects.toMatchObject({ code: '42501' })
  })

  it('a database opened for the API finds keys and reads its tenant, and is refused the work of workers and engines', async () => {
    const api = await openDatabase({ ownerUrl: test.owner.url, process: 'api' })
    try {
      expect(await api.keyOf(Buffer.alloc(32))).toBeNull()
      expect(await api.within(ours).selectFrom('agents').select('agent_id').execute()).toHaveLength(1)
      const refused = { code: '42501' }
      const reaped = api.jobs.reap(
        { engine: 'e', worker: null },
        { askedAt: '2026-01-01Z', atMost: 1, leaseMs: 1, restMs: 1 },
      )
      await expect(reaped).rejects.toMatchObject(refused)
      await expect(api.jobs.environmentsDue('webhooks', null, 1)).rejects.toMatchObject(refused)
      await expect(api.runs.waiting('phone', 1)).rejects.toMatchObject(refused)
      await expect(api.telephony.inboundTrunks()).rejects.toMatchObject(refused)
      await expect(api.leases.acquire('of-the-api', 'api', 1000)).rejects.toMatchObject(refused)
    } finally {
      await api.close()
    }
  })

  it('a login that was made a member of the group of another process is refused at the start', async () => {
    const { role } = readAddress(test.owner.url).logins.api
    await test.owner.query(`grant parley_worker to ${role}`)
    try {
      await expect(openDatabase({ ownerUrl: test.owner.url, process: 'api' })).rejects.toMatchObject({
        code: 'database_misconfigured',
        message: expect.stringContaining('parley_worker'),
      })
    } finally {
      await test.owner.query(`revoke parley_worker from ${role}`)
    }
  })
})

describe('functions that look across tenants', () => {
  it('cross-tenant functions belong to parley_system, have a fixed search path, and are not executable by everybody', async () => {
    const { rows } = await test.owner.query(`
      select p.proname as name, r.rolname as owner, p.proconfig as config, has_function_privilege('public', p.oid, 'execute') as everybody
      from pg_proc p join pg_namespace n on n.oid = p.pronamespace join pg_roles r on r.oid = p.proowner
      where n.nspname = 'parley' and p.prosecdef order by 1`)
    expect(rows.map(row => row.name)).toEqual(Object.keys(CALLERS).sort())
    for (const { name, ...facts } of rows)
      expect(facts, name).toEqual({
        owner: 'parley_system',
        config: expect.arrayContaining(['search_path=pg_catalog, pg_temp']),
        everybody: false,
      })
  })

  it('no role keeps the right to create objects in the schema after migration', async () => {
    const { rows } = await test.owner.query(
      `select r, has_schema_privilege(r, 'parley', 'create') as may from unnest(array['parley_app', 'parley_system', 'public']) r`,
    )
    expect(rows.filter(row => row.may)).toEqual([])
  })

  it('key look-up finds active keys and replaced keys until their deadline, but no revoked, expired or unknown key', async () => {
    const of = async (label: string, set: string) => {
      const scope = await test.scope()
      await test.owner.query(
        `insert into parley.api_keys (tenant_id, name, role, prefix, secret_hash, previous_hash) values ($1, $2, 'member', 'p', sha256($3), sha256($4))`,
        [scope.tenant_id, label, Buffer.from(`${label}-now`), Buffer.from(`${label}-before`)],
      )
      await test.owner.query(`update parley.api_keys set ${set} where tenant_id = $1`, [scope.tenant_id])
      const hash = async (text: string) =>
        (await test.owner.query('select sha256($1) as hash', [Buffer.from(text)])).rows[0].hash
      const [now, before] = [await hash(`${label}-now`), await hash(`${label}-before`)]
      return { scope, now: await test.database.keyOf(now), before: await test.database.keyOf(before) }
    }
    const live = await of(
      'live',
      "previous_until = now() + interval '1 hour', expires_at = '2100-01-01Z', can_dial = true",
    )
    expect(live.now).toEqual({
      key_id: expect.any(String),
      secret_hash: expect.any(Buffer),
      role: 'member',
      can_dial: true,
      scope: live.scope,
      valid_until: '2100-01-01T00:00:00.000Z',
      rate: null,
    })
    expect(Date.parse(live.before!.valid_until!)).toBeLessThan(Date.now() + 3_600_001)
    expect(await of('replaced', "previous_until = now() - interval '1 s'")).toMatchObject({
      now: { role: 'member' },
      before: null,
    })
    expect(await of('revoked', "revoked_at = now(), previous_until = '2100-01-01Z'")).toMatchObject({
      now: null,
      before: null,
    })
    expect(await of('expired', "expires_at = now(), previous_until = '2100-01-01Z'")).toMatchObject({
      now: null,
      before: null,
    })
    expect(await test.database.keyOf(Buffer.alloc(32))).toBeNull()
  })

  it('the last use of a key is written at most once a minute', async () => {
    const used = async () =>
      (
        await test.owner.query(`select key_id, last_used_at from parley.api_keys where tenant_id = $1`, [
          ours.tenant_id,
        ])
      ).rows[0]
    const { key_id } = await used()
    await test.database.touchKeys([key_id])
    const { last_used_at } = await used()
    expect(last_used_at).not.toBeNull()
    await test.database.touchKeys([key_id])
    expect((await used()).last_used_at).toEqual(last_used_at)
  })

  it('old idempotency records are deleted in bounded batches', async () => {
    const scope = await test.scope()
    await test.owner.query(
      `insert into parley.idempotency (tenant_id, principal, operation, key, request_hash, created_at)
       select $1, 'p', 'o', n::text, '\\x01', now() - n * interval '1 hour' from generate_series(20, 30) n`,
      [scope.tenant_id],
    )
    const day = 24 * 3_600_000
    expect(await test.database.forgetIdempotency(day, 4)).toBe(4)
    expect(await test.database.forgetIdempotency(day, 100)).toBe(3)
    const left = await test.owner.query('select count(*)::int as n from parley.idempotency where tenant_id = $1', [
      scope.tenant_id,
    ])
    expect(left.rows).toEqual([{ n: 4 }])
  })
})
