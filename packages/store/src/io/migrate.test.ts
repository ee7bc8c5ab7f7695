import { createHash, randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type TestDatabase, testDatabase } from '../testing/index.ts'
import { withDatabase } from '../testing/test-server.ts'
import { openDatabase } from './database.ts'
import { type Migration, migrate } from './migrate.ts'
import { SUBSTITUTIONS, sqlFor } from './older-servers.ts'
import { readAddress } from './owner-connection.ts'
import { preparationSql } from './roles.ts'

let test: TestDatabase
beforeAll(async () => {
  test = await testDatabase()
})
afterAll(() => test?.close())

const MIGRATIONS = new URL('../migrations/', import.meta.url)

/** The group roles of a cluster. */
const GROUPS = 'parley_app, parley_system, parley_api, parley_worker, parley_engine'

const newName = () => `m_${randomBytes(6).toString('hex')}`

/** An empty database; of a new role with these rights, or else of the superuser. */
async function emptyDatabase(rights?: string): Promise<string> {
  const name = newName()
  const url = new URL(withDatabase(test.owner.url, name))
  if (rights !== undefined) {
    await test.owner.query(`create role ${name} login password 'p w/@' ${rights}`)
    url.username = name
    url.password = encodeURIComponent('p w/@')
  }
  await test.owner.query(`create database ${name} ${rights === undefined ? '' : `owner ${name}`}`)
  return url.href
}

async function query(url: string, text: string) {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

const step = (name: string, sql: string): Migration => ({ name, sql })
const coded = (code: string, part = '') => expect.objectContaining({ code, message: expect.stringContaining(part) })

/** SHA-256 of migrations that people's databases have. */
const APPLIED_ELSEWHERE = {
  '0001-spine': '3db46959fe6507450b8c1c1e4fed1f36c612875905595d0dbf4f51c898162a4b',
  '0002-runs': '44decf8cf32ca49d8b90d394d78cb6b259ee70cbe82648a992e2313e4d83f341',
  '0003-telephony': 'e744810cecba7e775d9e9eda91dd582e0c31b0b911f40733e8e412db83d0e983',
  '0004-jobs': '958e37b046289b58487e1b491f6cce628efe86fd2ee89342e2e45c52ad9a8cf4',
  '0005-run-messages': '164d22a0fac7ce7acb6840387466b60a877fd4e0aa8c8bdd0dbdd93666844227',
  '0006-recordings': 'b26fc9c46ac4e5e7edcef64da31331f75f27f6bc58a6ffb20085b707a9fa0667',
  '0007-late-updates': '97cb59c58afa9c848555b4ea677f4dae816efa7c162d6c09d0a9e22e3941d513',
  '0008-turns': '86807d65c727fdef30444200619c9edadb8c6011b560058bedfc4946a0b5a0bc',
  '0009-updates-told': '25e4c3ea53d1a5760c6b355a510dcb0cc62995f45137ee90fb3f257fafb95713',
  '0010-messages-forgotten': 'ccfa2eccf4d4b3bfc19f91eb3e8b711ce4718492c583b8638dcd5866ffd7eb74',
  '0011-environments-due': '27b78f028c69a4cc581a63f4ff4576df74e395b165c8f85612203f220216d5a4',
  '0012-ends-of-runs': 'bb8c398418009fdc7bbfe494e04630564ba610f55e16e1d6ef99dc75c2ef16f6',
  '0013-sip-messages': 'c361c1568af6b57460a7cf413daac1d5e0ba65f5b77776b91ded4a0f5673b7c8',
  '0014-trunk-registrations': 'd4e442b5e91e1d74728cf88794222ee40a2b358d0a9a5c805d26d18cd5b8e9d9',
  '0015-trunk-health': '5b901bfa5305899aebecbe7364b1d6a962f8cdb8f9f113ffcf4a41000cbc0f8f',
  '0016-test-suites': '438c962d9518bf6a396082bda278832b4606bdc51f41e7cfdcbebce58cb26832',
  '0017-people': 'a6662b9cfee03f71ec373927d0783e5d9dcc6366cd57b07a9337de65f0eb3ac6',
  '0018-answered-by': 'f5c41d3c0b0735d4b6766b9df61d030a311f45c15073d3811603079b996d79cf',
  '0019-alerts': '3f3fb03b5d4c1bdb4cbda68ff7bd11c26be22e10bc7a8ddcccc9886224b4133e',
  '0020-knowledge': '5af0e05ff1dd92c4290a17f41f25c221694e2649299cb5217fad02df80188275',
  '0021-number-claims': 'fe2b57e642daf1666ca1d9cef06e2df6596cf1199e241e4de81f2b78ba582c92',
  '0022-provider-keys': 'a4b1e8ddada52ca7f4dc2833a742d0aec6bd710678f74036d35d1604e6c3a98a',
  '0023-web-calls': 'c408a6f9dc098a9fdae2d9db17d48093d6054bebc14f46148589e67df5c025b7',
  '0024-narrower-rights': '42b125782c1933d578aed9d875b1ec7e4956d6195146f5773b8a3764c8f01b56',
  '0025-test-runs': 'ea58b3fa06631853d614209c8c26a05e96bfa55c99a48ecfde18522368650fb7',
  '0026-site-origins': 'c5c02c8a2ce4f4995b05147f91588bffd5dd13061f264324a5206ba26dc8674c',
  '0027-grants-by-process': 'ee07bf99eec3ad35944ff22f4f5f8f392dcdaf2e3bf88dd6f0a0892503ba1496',
  '0028-usage-of-effects': 'a31e7113544ad65eb4c082afaef00e060a701c29a85cd02d5f72543cf9c7ac3c',
  '0029-caller-memory': 'fb622d7a87a91e2b9fd7c69418a67e97520c28d9052d71e8d3a6b4211e17bae5',
  '0030-release-gates': '9071936538e8d21ba4d0c7f7b87119001b7b5867566c0a6190dbf0019c968d73',
  '0031-call-listeners': '2625c352e39fb0b671e661afeeaabcd4c4f1de19e8349a1f8314448fe5fca7c0',
  '0032-replay': '98daab49eec681898af835f432b1f0280b932a098edec11a09b7c2ea77d2d891',
  '0033-recorded-cases': '47eaebbce76df9926730e7f05ca56cabeea4f0c87b4e9ff315f3248263528ae0',
  '0034-forgotten-numbers': '47b04573b2c470c033969d1b920cd4b10fc37095176492350cefb70344d7cec2',
  '0035-web-call-kind': 'ba532dea91d09dbf8f648ac05030cb8d67cf6ffc1aecf54a05b12f260ead3244',
  '0036-successors': '6f39e7732dc274c827d5031492ea1008b8586d9d2e65a12d5a90c8c34b1028af',
  '0037-continued-addresses': '309ac84f5ffdc16760a68e7c02c0907b43090947d6852f04be900156c118300c',
  '0038-audio-tokens': 'fa5d14c54cef43acb453e9ac8f97dcfadbf9bfbf6519780ee0c8c92b67b91665',
}

async function ours(): Promise<Migration[]> {
  const names = (await readdir(MIGRATIONS)).filter(file => file.endsWith('.sql')).sort()
  return Promise.all(
    names.map(async file => step(file.slice(0, -4), await readFile(new URL(file, MIGRATIONS), 'utf8'))),
  )
}

describe('migrations', () => {
  it('released migrations never change their text', async () => {
    const digests = Object.fromEntries(
      (await ours()).map(({ name, sql }) => [name, createHash('sha256').update(sql).digest('hex')]),
    )
    expect(digests).toMatchObject(APPLIED_ELSEWHERE)
  })

  it('migrations are numbered without a gap, each number once', async () => {
    const numbers = (await ours()).map(({ name }) => Number(name.slice(0, 4)))
    expect(numbers).toEqual(numbers.map((_, index) => index + 1))
  })

  it('webhooks stored by an earlier version stay queued in order after migration, whichever role owns the tables', async () => {
    const url = await emptyDatabase('createrole')
    await test.owner.query(`grant ${GROUPS} to ${new URL(url).username} with admin option`)
    const steps = await ours()
    const name = new URL(url).pathname.slice(1)
    const asSuperuser = withDatabase(test.owner.url, name)
    await migrate(
      url,
      steps.filter(({ name }) => name < '0008'),
    )
    await query(
      asSuperuser,
      `with o as (insert into parley.organisations (name) values ('o') returning owner_id),
        t as (insert into parley.tenants (owner_id, environment, name) select owner_id, 'production', 'p' from o returning tenant_id)
       insert into parley.outbox (tenant_id, run_id, event, next_at)
       select tenant_id, r.run_id::uuid, 'run.ended', timestamptz '2026-01-01Z' + w.at * interval '1 min'
       from t, (values ('0199a2f0-0000-7000-8000-000000000001'), ('0199a2f0-0000-7000-8000-000000000002')) r (run_id),
         (values (1, 5), (2, 0), (3, 9)) w (nth, at) order by r.run_id, w.nth`,
    )
    await migrate(url)
    const due = await query(
      asSuperuser,
      `select extract(minute from next_at)::int as at from parley.outbox order by run_id, outbox_id`,
    )
    expect(due.map(({ at }) => at)).toEqual([5, 5, 9, 5, 5, 9])
    const [table] = await query(
      asSuperuser,
      `select relforcerowsecurity as forced from pg_class where oid = 'parley.outbox'::regclass`,
    )
    expect(table).toEqual({ forced: true })
  })

  it('migrations run once, in order, and later migrations run when they are added', async () => {
    const url = await emptyDatabase()
    const steps = [
      step('0001-a', 'create table parley.a (n int)'),
      step('0002-b', 'alter table parley.a add column m int'),
    ]
    expect(await migrate(url, steps.slice(0, 1))).toEqual(['0001-a'])
    expect(await migrate(url, steps)).toEqual(['0002-b'])
    expect(await migrate(url, steps)).toEqual([])
    expect(await query(url, 'select name from parley.migrations order by 1')).toEqual([
      { name: '0001-a' },
      { name: '0002-b' },
    ])
  })

  it('migration is refused when an applied migration differs or the database is newer than the program', async () => {
    const url = await emptyDatabase()
    await migrate(url, [step('0001-a', 'select 1'), step('0002-b', 'select 2')])
    await expect(migrate(url, [step('0001-a', 'select 1;'), step('0002-b', 'select 2')])).rejects.toEqual(
      coded('migration_changed', '0001-a'),
    )
    await expect(migrate(url, [step('0001-a', 'select 1')])).rejects.toEqual(coded('database_newer', '0002-b'))
  })

  it('a failed migration is rolled back and its error names the migration', async () => {
    const url = await emptyDatabase()
    const bad = step('0002-bad', 'create table parley.half (n int);\n\nselect nonsense')
    await expect(migrate(url, [step('0001-a', 'select 1'), bad])).rejects.toEqual(
      coded('migration_failed', '0002-bad (line 3)'),
    )
    expect(await query(url, "select to_regclass('parley.half') as half")).toEqual([{ half: null }])
    expect(await query(url, 'select name from parley.migrations')).toEqual([{ name: '0001-a' }])
  })

  it('migrations started by many processes at once apply once, also in several databases of one server', async () => {
    const urls = await Promise.all([emptyDatabase(), emptyDatabase()])
    const applied = await Promise.all([...urls, ...urls, ...urls].map(url => migrate(url)))
    expect(applied.filter(names => names.length > 0)).toHaveLength(2)
    for (const url of urls) await (await openDatabase({ ownerUrl: url })).close()
  })
})

describe('the migration of claims to numbers', () => {
  it('confirms the oldest import of each number on a trunk that takes calls', async () => {
    const url = await emptyDatabase()
    const steps = await ours()
    await migrate(
      url,
      steps.filter(({ name }) => name < '0021'),
    )
    await query(
      url,
      `insert into parley.organisations (owner_id, name) select ('00000000-0000-4000-8000-00000000000' || n)::uuid, 'O' from generate_series(1, 3) n;
       insert into parley.tenants (tenant_id, owner_id, environment, name) select owner_id, owner_id, 'production', 'P' from parley.organisations;
       insert into parley.trunks (tenant_id, trunk_id, name, provider, termination_uri, inbound)
         select tenant_id, 't', 'T', 'generic_sip', 'sbc.example.com', tenant_id::text not like '%1' from parley.tenants;
       insert into parley.numbers (tenant_id, phone_number, trunk_id, created_at)
         select tenant_id, '+12025550101', 't', '2026-01-01Z'::timestamptz + right(tenant_id::text, 1)::integer * interval '1 day' from parley.tenants;
       insert into parley.numbers (tenant_id, phone_number, trunk_id) select tenant_id, '+12025550102', 't' from parley.tenants where tenant_id::text like '%3'`,
    )
    await migrate(url, steps)
    const rows = await query(
      url,
      'select right(tenant_id::text, 1) as tenant, phone_number from parley.numbers where confirmed_at is not null order by phone_number',
    )
    // The environment 1 imported first, but its trunk takes no calls.
    expect(rows).toEqual([
      { tenant: '2', phone_number: '+12025550101' },
      { tenant: '3', phone_number: '+12025550102' },
    ])
  })
})

describe('a database owner that is not a superuser', () => {
  it('an owner with CREATEROLE migrates once an administrator grants it the existing roles, and the application works', async () => {
    const url = await emptyDatabase('createrole')
    await expect(migrate(url)).rejects.toEqual(coded('database_misconfigured', `GRANT ${GROUPS} TO`))
    const owner = new URL(url).username
    await test.owner.query(`grant ${GROUPS} to ${owner} with admin option, inherit false, set true`)
    expect((await migrate(url)).slice(0, 2)).toEqual(['0001-spine', '0002-runs'])
    expect(await migrate(url)).toEqual([])
    const database = await openDatabase({ ownerUrl: url })
    try {
      await database.ping()
      expect(await database.keyOf(Buffer.alloc(32))).toBeNull()
    } finally {
      await database.close()
    }
    // Row security binds the owner, too.
    expect(await query(url, 'select * from parley.tenants')).toEqual([])
    await expect(query(url, "insert into parley.organisations (name) values ('x')")).rejects.toMatchObject({
      code: '42501',
    })
  })

  it('an owner without CREATEROLE gets an error that names the missing privilege', async () => {
    const url = await emptyDatabase('')
    const owner = new URL(url).username
    await test.owner.query(`grant ${GROUPS} to ${owner} with admin option, inherit false, set true`)
    await expect(migrate(url)).rejects.toEqual(coded('database_misconfigured', 'CREATEROLE'))
  })
})

describe('a database whose owner may not create roles', () => {
  it('the statements for an administrator make migration and the application work, also a second time', async () => {
    const url = await emptyDatabase('')
    const sql = preparationSql(readAddress(url))
    await test.owner.query(sql)
    await test.owner.query(sql)
    expect((await migrate(url)).slice(0, 2)).toEqual(['0001-spine', '0002-runs'])
    expect(await migrate(url)).toEqual([])
    const database = await openDatabase({ ownerUrl: url })
    await database.ping()
    await database.close()
  })

  it('the error names the command that prints them', async () => {
    const url = await emptyDatabase('')
    await expect(migrate(url)).rejects.toEqual(coded('database_misconfigured', 'parley admin database prepare'))
  })
})

describe('a server of an older version', () => {
  it('each statement that it does not understand stands in its migration, and has another form for it', async () => {
    for (const { migration, from, until } of SUBSTITUTIONS) {
      const sql = await readFile(new URL(`${migration}.sql`, MIGRATIONS), 'utf8')
      expect(sql, migration).toContain(from)
      expect(sqlFor({ name: migration, sql }, until)).toContain(from)
      expect(sqlFor({ name: migration, sql }, until - 1)).not.toContain(from)
    }
  })

  it('no migration uses on Postgres 16 what only newer servers have', async () => {
    for (const file of (await readdir(MIGRATIONS)).filter(name => name.endsWith('.sql'))) {
      const sql = await readFile(new URL(file, MIGRATIONS), 'utf8')
      const understood = sqlFor({ name: file.slice(0, -'.sql'.length), sql }, 160_000).replaceAll(/--.*/g, '')
      expect(understood, file).not.toMatch(/pg_c_utf8|(?<![.\w])uuidv7\(\)|\breturning\b[^;]*\b(?:old|new)\./i)
    }
  })

  it('UUIDs are in the order of their time, of version 7, and unlike each other', async () => {
    const { rows } = await test.owner.query('select parley.uuidv7()::text as id from generate_series(1, 1000)')
    const ids = rows.map(row => row.id as string)
    expect(new Set(ids).size).toBe(1000)
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    const times = ids.map(id => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16))
    expect(times).toEqual(times.toSorted((a, b) => a - b))
    expect(Math.abs(times[0]! - Date.now())).toBeLessThan(600_000)
  })
})

describe('the database URL', () => {
  it.each([
    '',
    'nonsense',
    'mysql://a:b@h/d',
    'postgres://h/d',
    'postgres://a@h/d',
    'postgres://a:b@h',
    'postgres://a:b@h/',
  ])('a database URL is refused: %s', async url => {
    await expect(migrate(url)).rejects.toEqual(coded('database_misconfigured', 'postgres://user:password@host'))
  })

  it('the password of a process role is the same in every process, and differs by role, owner, password and database', () => {
    const login = (url: string) => {
      const { role, password } = readAddress(url).logins.api
      return { role, password }
    }
    const base = login('postgres://own%40er:p%2Fw@h:1/d')
    expect(login('postgres://own%40er:p%2Fw@other:2/d?sslmode=require')).toEqual(base)
    const others = ['postgres://own%40er:p%2Fx@h/d', 'postgres://owner:p%2Fw@h/d', 'postgres://own%40er:p%2Fw@h/e'].map(
      login,
    )
    expect(new Set([base, ...others].map(one => one.password)).size).toBe(4)
    const { logins } = readAddress('postgres://own%40er:p%2Fw@h/d')
    expect(new Set(Object.values(logins).map(one => one.password)).size).toBe(4)
    expect(base.role).toBe('parley_api_d')
    expect(login(`postgres://a:b@h/${'x'.repeat(60)}`).role).toMatch(/^parley_api_[0-9a-f]{16}$/)
  })

  it('a database URL with a wrong password fails as unavailable without a crash', async () => {
    const url = new URL(test.owner.url)
    url.password = 'wrong'
    await expect(migrate(url.href)).rejects.toEqual(coded('database_unavailable'))
    await expect(openDatabase({ ownerUrl: url.href })).rejects.toEqual(coded('database_unavailable'))
  })
})
