import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import type { Scope } from '@parley/contract'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Queries } from '../protocol.ts'
import { type TestDatabase, testDatabase } from '../testing/index.ts'
import { type TcpCut, tcpCut } from '../testing/tcp-cut.ts'
import { openDatabase } from './database.ts'
import { readAddress } from './owner-connection.ts'
import { TenantPool } from './tenant-pool.ts'

let test: TestDatabase
beforeAll(async () => {
  test = await testDatabase({ maxConnections: 4 })
})
afterAll(() => test?.close())

async function agentsOf(scope: Scope): Promise<string[]> {
  const rows = await test.database.within(scope).selectFrom('agents').select('agent_id').orderBy('agent_id').execute()
  return rows.map(row => row.agent_id)
}

const addAgent = (scope: Scope, agent_id: string, database = test.database) =>
  database.transaction(scope, async tx => {
    await tx.insertInto('agents').values({ agent_id, name: agent_id }).execute()
  })

describe('a database that is slow when a process starts', () => {
  const servers: Server[] = []
  const sockets: Socket[] = []
  afterAll(() => {
    for (const socket of sockets) socket.destroy()
    for (const server of servers) server.close()
  })

  /** A URL of the database, whose port takes `ms` before it passes on what a connection sends; null: it never does. */
  async function behind(ms: number | null): Promise<string> {
    const url = new URL(test.owner.url)
    const port = Number(url.port)
    const server = createServer(client => {
      sockets.push(client.on('error', () => {}))
      if (ms === null) return
      setTimeout(() => {
        const target = connect(port, '127.0.0.1').on('error', () => {})
        sockets.push(target)
        client.pipe(target).pipe(client)
      }, ms)
    })
    servers.push(server)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    url.port = String((server.address() as AddressInfo).port)
    return url.href
  }

  it('the first connection may take longer than those of requests may', async () => {
    const database = await openDatabase({ ownerUrl: await behind(200), waitMs: 50 })
    await database.close()
  })

  it('a database that never answers is given up, and the error says so', async () => {
    const opening = openDatabase({ ownerUrl: await behind(null), openWithinMs: 50 })
    await expect(opening).rejects.toMatchObject({ code: 'database_unavailable', retryable: true })
  })
})

describe('one tenant at a time', () => {
  it('what a transaction writes is visible to its tenant alone', async () => {
    const [ours, theirs] = [await test.scope(), await test.scope()]
    await addAgent(ours, 'a')
    expect(await agentsOf(ours)).toEqual(['a'])
    expect(await agentsOf(theirs)).toEqual([])
  })

  it('a pooled connection never shows the rows of its previous tenant, whatever failed before', async () => {
    const scopes = await Promise.all(Array.from({ length: 8 }, () => test.scope()))
    await Promise.all(scopes.map((scope, index) => addAgent(scope, `of-${index}`)))
    const seen = { right: 0, refused: 0 }
    const ask = async (round: number) => {
      const index = (round * 5) % scopes.length
      const scope = scopes[index]!
      if (round % 7 === 0) {
        await expect(sql`select 1 / 0`.execute(test.database.within(scope))).rejects.toThrow('division by zero')
        seen.refused++
      } else if (round % 7 === 1) {
        const failing = test.database.transaction(scope, async tx => {
          await tx.selectFrom('agents').selectAll().execute()
          throw new Error('of ours')
        })
        await expect(failing).rejects.toThrow('of ours')
        seen.refused++
      } else {
        expect(await agentsOf(scope)).toEqual([`of-${index}`])
        seen.right++
      }
    }
    // More at once than the pool has connections, but not so many that the last one waits too long on a busy machine.
    const rounds = Array.from({ length: 700 }, (_, round) => round).values()
    const askInTurn = async () => {
      for (const round of rounds) await ask(round)
    }
    await Promise.all(Array.from({ length: 50 }, askInTurn))
    expect(seen).toEqual({ right: 500, refused: 200 })
  })

  it('a connection returned to the pool holds nothing of its tenant, whether its statement succeeded or failed', async () => {
    const pool = new TenantPool(readAddress(test.owner.url).logins.all, { maxConnections: 3 })
    try {
      const scope = await test.scope()
      await addAgent(scope, 'a')
      const context = { tenant: scope.tenant_id, owner: scope.owner_id }
      const statement = (text: string) => sql.raw(text).compile(test.database.within(scope))
      const work = (round: number) => {
        if (round % 3 === 0) return pool.read(context, statement('select count(*) from parley.agents'))
        if (round % 3 === 1) return pool.read(context, statement('select 1 / 0'))
        return pool.transaction(context, async tx => {
          await tx.executeQuery(statement('select count(*) from parley.agents'))
          throw new Error('of ours')
        })
      }
      await Promise.allSettled(Array.from({ length: 60 }, (_, round) => work(round)))
      const looks = await Promise.all(
        Array.from({ length: 12 }, () =>
          pool.bare(
            'look',
            `select pg_backend_pid() as pid, coalesce(current_setting('parley.tenant', true), '') as tenant,
              coalesce(current_setting('parley.owner', true), '') as owner, (select count(*)::int from parley.agents) as agents, pg_sleep(0.01)`,
            [],
          ),
        ),
      )
      const rows = looks.map(look => look.rows[0])
      expect(new Set(rows.map(row => row.pid)).size).toBe(3)
      for (const row of rows) expect(row).toMatchObject({ tenant: '', owner: '', agents: 0 })
    } finally {
      await pool.close()
    }
  })

  it('a read-only transaction cannot write', async () => {
    const scope = await test.scope()
    const insert = test.database.within(scope).insertInto('agents').values({ agent_id: 'x', name: 'x' })
    await expect(insert.execute()).rejects.toMatchObject({ code: '25006' })
  })

  it('a scope whose ids are not UUIDs is refused', () => {
    const scope = { owner_id: "'; drop schema parley", environment: 'production', tenant_id: '' }
    expect(() => test.database.within(scope)).toThrow(expect.objectContaining({ code: 'invalid_scope' }))
  })
})

describe('values from Postgres', () => {
  it('Postgres values arrive as ISO times with ms, int8 as text, JSON parsed, and bytes unchanged', async () => {
    const db = test.database.within(await test.scope())
    const { rows } = await sql`
      select '2026-02-03 04:05:06.7+02'::timestamptz as tenth, '2026-02-03 04:05:06Z'::timestamptz as whole,
        '2026-02-03 04:05:06.123999Z'::timestamptz as finer, 9007199254740993 as big, '{"a":[1,null]}'::jsonb as json,
        '\\x00ff'::bytea as bytes, array['2026-02-03 04:05:06Z'::timestamptz, null] as several, null::timestamptz as none,
        'infinity'::timestamptz as never, '2026-02-03'::date as day`.execute(db)
    expect(rows[0]).toEqual({
      tenth: '2026-02-03T02:05:06.700Z',
      whole: '2026-02-03T04:05:06.000Z',
      finer: '2026-02-03T04:05:06.123Z',
      big: '9007199254740993',
      json: { a: [1, null] },
      bytes: Buffer.of(0, 255),
      several: ['2026-02-03T04:05:06.000Z', null],
      none: null,
      never: 'infinity',
      day: '2026-02-03',
    })
  })
})

describe('statements', () => {
  it('a statement is parsed once per connection, and again after its table changed', async () => {
    const scope = await test.scope()
    await addAgent(scope, 'a')
    const one = await testDatabase({ maxConnections: 1 })
    try {
      const theirs = await one.scope()
      await addAgent(theirs, 'a', one.database)
      const all = () => one.database.within(theirs).selectFrom('tenants').selectAll().execute()
      for (let round = 0; round < 3; round++) await all()
      const { rows } = await sql<{ n: string }>`
        select count(*)::text as n from pg_prepared_statements where statement like 'select * from "tenants"%'`.execute(
        one.database.within(theirs),
      )
      expect(rows).toEqual([{ n: '1' }])
      await one.owner.query('alter table parley.tenants add column later integer')
      expect(await all()).toMatchObject([{ later: null }])
    } finally {
      await one.close()
    }
  })

  it('a statement that failed when it was first prepared can be sent again on the same connection', async () => {
    const one = await testDatabase({ maxConnections: 1 })
    try {
      const scope = await one.scope()
      const divide = (by: number) =>
        sql<{ half: number }>`select 1 / ${by}::integer as half`.execute(one.database.within(scope))
      await expect(divide(0)).rejects.toThrow('division by zero')
      expect((await divide(1)).rows).toEqual([{ half: 1 }])
      const unparsed = () => sql`select nothing_of_this_name()`.execute(one.database.within(scope))
      await expect(unparsed()).rejects.toThrow('does not exist')
      await one.owner.query(
        'create function parley.nothing_of_this_name() returns integer language sql as $$ select 3 $$',
      )
      await one.owner.query('grant execute on function parley.nothing_of_this_name() to public')
      expect((await unparsed()).rows).toEqual([{ nothing_of_this_name: 3 }])
    } finally {
      await one.close()
    }
  })

  it('statements that are begun together each get their own rows, and the first failure ends those after it', async () => {
    const scope = await test.scope()
    const [one, none, two] = await test.database.transaction(scope, tx =>
      Promise.all([
        sql`select 1 as a, null as b`.execute(tx),
        tx.updateTable('agents').set({ name: 'n' }).where('agent_id', '=', 'nobody').executeTakeFirst(),
        sql`select n from generate_series(1, 2) n`.execute(tx),
      ]),
    )
    expect([one.rows, none.numUpdatedRows, two.rows]).toEqual([[{ a: 1, b: null }], 0n, [{ n: 1 }, { n: 2 }]])
    const settled: unknown[] = []
    const failing = test.database.transaction(scope, async tx => {
      const all = ['select 1 as a', 'select 1 / 0', 'select 2'].map(text => sql.raw(text).execute(tx))
      settled.push(...(await Promise.allSettled(all)))
    })
    await expect(failing).rejects.toThrow('division by zero')
    expect(settled).toMatchObject([
      { status: 'fulfilled', value: { rows: [{ a: 1 }] } },
      { status: 'rejected', reason: { code: '22012' } },
      { status: 'rejected', reason: { code: '22012' } },
    ])
  })

  it('the prepared statements of a connection are bounded however many kinds are used', async () => {
    const one = await testDatabase({ maxConnections: 1 })
    try {
      const db = one.database.within(await one.scope())
      for (let round = 0; round < 520; round++) await sql.raw(`select ${round}`).execute(db)
      const { rows } = await sql<{ n: string }>`select count(*)::text as n from pg_prepared_statements`.execute(db)
      expect(Number(rows[0]!.n)).toBeLessThan(100)
    } finally {
      await one.close()
    }
  })
})

describe('a transaction', () => {
  it('a transaction is rolled back when its work throws or ignores a Postgres error', async () => {
    const scope = await test.scope()
    const thrown = test.database.transaction(scope, async tx => {
      await tx.insertInto('agents').values({ agent_id: 'a', name: 'a' }).execute()
      throw new Error('no')
    })
    await expect(thrown).rejects.toThrow('no')
    const swallowed = test.database.transaction(scope, async tx => {
      await tx.insertInto('agents').values({ agent_id: 'b', name: 'b' }).execute()
      await sql`select 1 / 0`.execute(tx).catch(() => {})
    })
    await expect(swallowed).rejects.toThrow('division by zero')
    expect(await agentsOf(scope)).toEqual([])
  })

  it('a transaction that fails by a serialisation conflict is retried at most twice', async () => {
    const scope = await test.scope()
    for (const id of ['a', 'b']) await addAgent(scope, id)
    let runs = 0
    const bothOn = Promise.withResolvers<void>()
    const rename = (first: string, second: string) =>
      test.database.transaction(scope, async tx => {
        const set = (id: string) =>
          tx
            .updateTable('agents')
            .set({ name: `${first}${second}` })
            .where('agent_id', '=', id)
        await set(first).execute()
        if (++runs === 2) bothOn.resolve()
        await bothOn.promise
        await set(second).execute()
      })
    await Promise.all([rename('a', 'b'), rename('b', 'a')])
    // Postgres ends one of a deadlock, now and then both.
    expect([3, 4]).toContain(runs)
    let attempts = 0
    const never = test.database.transaction(scope, async tx => {
      attempts++
      await sql`do $$ begin raise exception 'again' using errcode = '40001'; end $$`.execute(tx)
    })
    await expect(never).rejects.toMatchObject({ code: '40001' })
    expect(attempts).toBe(3)
  })

  it('a transaction refuses queries after its end', async () => {
    const scope = await test.scope()
    const kept = await test.database.transaction(scope, async tx => ({ tx }))
    await expect(kept.tx.selectFrom('agents').selectAll().execute()).rejects.toThrow('over')
  })
})

describe('a database that goes away', () => {
  let relay: TcpCut
  let scope: Scope
  let database: Awaited<ReturnType<typeof openDatabase>>
  beforeAll(async () => {
    scope = await test.scope()
    const url = new URL(test.owner.url)
    relay = await tcpCut(Number(url.port))
    url.port = String(relay.port)
    database = await openDatabase({ ownerUrl: url.href, maxConnections: 2, waitMs: 1500 })
  })
  afterAll(async () => {
    await database?.close()
    await relay?.close()
  })

  /** The pieces that the client sends during `work`, and what it had sent before the server's first one. */
  async function traffic(work: () => Promise<unknown>): Promise<{ pieces: string[]; beforeAnswer: string }> {
    const pieces: string[] = []
    let beforeAnswer: string | undefined
    relay.onClientData = piece => {
      pieces.push(piece.toString('latin1'))
      return true
    }
    relay.onServerData = () => {
      beforeAnswer ??= pieces.join('')
      return true
    }
    try {
      await work()
    } finally {
      relay.onClientData = relay.onServerData = null
    }
    return { pieces, beforeAnswer: beforeAnswer ?? '' }
  }

  const addTo = (tx: Queries, agent_id: string) => tx.insertInto('agents').values({ agent_id, name: 'a' }).execute()

  it('a read costs one round trip: its scope and its statement are sent in one piece with one Sync', async () => {
    const read = () => database.within(scope).selectFrom('agents').selectAll().execute()
    await read()
    const { pieces } = await traffic(read)
    expect(pieces).toHaveLength(1)
    expect(pieces[0]).toMatch(/parley_read_scope\0.*q_[\w-]{24}\0/s)
    expect(pieces[0]?.split('S\0\0\0\x04')).toHaveLength(2)
  })

  it('BEGIN travels with the first statements of a transaction, and COMMIT with its last writes', async () => {
    const work = (id: string) => () =>
      database.transaction(
        scope,
        tx => Promise.all([sql`select 1`.execute(tx), sql`select 2`.execute(tx)]),
        tx =>
          Promise.all(
            ['x', 'y'].map(end =>
              tx
                .insertInto('agents')
                .values({ agent_id: `${id}-${end}`, name: 'a' })
                .execute(),
            ),
          ),
      )
    await work('first')()
    const { pieces } = await traffic(work('second'))
    expect(pieces).toHaveLength(2)
    expect(pieces[0]).toContain('parley_begin\0')
    expect(pieces[1]).toMatch(/second-x.*second-y.*parley_commit\0/s)
    expect(await agentsOf(scope)).toEqual(['first-x', 'first-y', 'second-x', 'second-y'])
    await test.owner.query("delete from parley.agents where agent_id ~ '^(first|second)-'")
  })

  it('last writes that fail roll the transaction back, and their error is that of the transaction', async () => {
    const work = database.transaction(
      scope,
      tx => tx.insertInto('agents').values({ agent_id: 'kept', name: 'k' }).execute(),
      tx => Promise.all([sql`select 1 / 0`.execute(tx), tx.selectFrom('agents').selectAll().execute()]),
    )
    await expect(work).rejects.toThrow('division by zero')
    expect(await agentsOf(scope)).toEqual([])
  })

  it('a connection lost between the COMMIT of last writes and its answer leaves the outcome unknown', async () => {
    relay.onServerData = piece => !piece.includes('COMMIT')
    const work = database.transaction(
      scope,
      tx => sql`select 1`.execute(tx),
      tx => tx.insertInto('agents').values({ agent_id: 'last', name: 'l' }).execute(),
    )
    await expect(work).rejects.toMatchObject({ code: 'outcome_unknown', retryable: false })
    relay.onServerData = null
    expect(await agentsOf(scope)).toEqual(['last'])
    await test.owner.query("delete from parley.agents where agent_id = 'last'")
  })

  it('a transaction of one trip is one piece with one Sync and no BEGIN, and is stored', async () => {
    const work = (id: string) => () =>
      database.transaction(scope, tx => Promise.all(['x', 'y'].map(end => addTo(tx, `${id}-${end}`))), 'one-trip')
    await work('one')()
    const { pieces } = await traffic(work('two'))
    expect(pieces).toHaveLength(1)
    expect(pieces[0]).not.toMatch(/parley_begin|parley_commit/)
    expect(pieces[0]?.split('S\0\0\0\x04')).toHaveLength(2)
    expect(await agentsOf(scope)).toEqual(['one-x', 'one-y', 'two-x', 'two-y'])
    await test.owner.query("delete from parley.agents where agent_id ~ '^(one|two)-'")
  })

  it('a transaction of one trip is stored as a whole or not at all, and refuses later statements', async () => {
    const failing = database.transaction(
      scope,
      tx => Promise.all([addTo(tx, 'kept'), sql`select 1 / 0`.execute(tx)]),
      'one-trip',
    )
    await expect(failing).rejects.toThrow('division by zero')
    const late = database.transaction(
      scope,
      async tx => {
        await sql`select 1`.execute(tx)
        await addTo(tx, 'late')
      },
      'one-trip',
    )
    await expect(late).rejects.toThrow('over')
    expect(await agentsOf(scope)).toEqual([])
  })

  it('a connection lost before the answer of a transaction of one trip leaves the outcome unknown', async () => {
    relay.onServerData = piece => !piece.includes('INSERT')
    const work = database.transaction(scope, tx => addTo(tx, 'whole'), 'one-trip')
    await expect(work).rejects.toMatchObject({ code: 'outcome_unknown', retryable: false })
    relay.onServerData = null
    expect(await agentsOf(scope)).toEqual(['whole'])
    await test.owner.query("delete from parley.agents where agent_id = 'whole'")
  })

  it('a connection lost before COMMIT is a retryable error, and nothing was written', async () => {
    const work = database.transaction(scope, async tx => {
      await tx.insertInto('agents').values({ agent_id: 'before', name: 'b' }).execute()
      relay.cut()
      await tx.selectFrom('agents').selectAll().execute()
    })
    await expect(work).rejects.toMatchObject({ code: 'database_unavailable', retryable: true })
    expect(await agentsOf(scope)).toEqual([])
  })

  it('a connection whose loss is noticed before COMMIT never sends COMMIT, and nothing was written', async () => {
    const work = database.transaction(scope, async tx => {
      await tx.insertInto('agents').values({ agent_id: 'noticed', name: 'n' }).execute()
      relay.cut()
      await test.owner.query('select pg_sleep(0.05)')
    })
    await expect(work).rejects.toMatchObject({ code: 'database_unavailable', retryable: true })
    expect(await agentsOf(scope)).toEqual([])
  })

  it('a connection lost between COMMIT and its answer leaves the outcome unknown', async () => {
    relay.onServerData = piece => !piece.includes('COMMIT')
    await expect(addAgent(scope, 'during', database)).rejects.toMatchObject({
      code: 'outcome_unknown',
      retryable: false,
    })
    relay.onServerData = null
    expect(await agentsOf(scope)).toEqual(['during'])
  })

  it('a COMMIT that never reached the server has an unknown outcome too', async () => {
    relay.onClientData = piece => !piece.includes('commit\0')
    await expect(addAgent(scope, 'lost', database)).rejects.toMatchObject({ code: 'outcome_unknown' })
    relay.onClientData = null
    expect(await agentsOf(scope)).toEqual(['during'])
  })

  it('requests fail soon while the database is away, and succeed once it is back', async () => {
    relay.closed = true
    relay.cut()
    const away = [
      database.ping(),
      addAgent(scope, 'no', database),
      database.within(scope).selectFrom('agents').selectAll().execute(),
    ]
    for (const result of await Promise.allSettled(away))
      expect(result).toMatchObject({ status: 'rejected', reason: { code: 'database_unavailable', retryable: true } })
    relay.closed = false
    await database.ping()
    expect(await database.within(scope).selectFrom('agents').select('agent_id').execute()).toHaveLength(1)
  })

  it('a request that gets no pooled connection in time fails as unavailable', async () => {
    const held = Promise.withResolvers<void>()
    const holders = [1, 2].map(() =>
      database.transaction(scope, async tx => {
        await tx.selectFrom('agents').selectAll().execute()
        await held.promise
      }),
    )
    await expect(database.ping()).rejects.toMatchObject({ code: 'database_unavailable' })
    held.resolve()
    await Promise.all(holders)
    await database.ping()
  })

  it('a statement that exceeds its time limit is cancelled', async () => {
    const hasty = await openDatabase({
      ownerUrl: test.owner.url,
      maxConnections: 1,
      // All other statements of this test must take less, also on a busy machine.
      statementMs: 3000,
      idleInTransactionMs: 500,
    })
    try {
      await expect(sql`select pg_sleep(60)`.execute(hasty.within(scope))).rejects.toMatchObject({
        code: 'database_timeout',
      })
      const idle = hasty.transaction(scope, async tx => {
        await tx.selectFrom('agents').selectAll().execute()
        await test.owner.query('select pg_sleep(1)')
        await tx.selectFrom('agents').selectAll().execute()
      })
      await expect(idle).rejects.toMatchObject({ code: 'database_unavailable' })
      await hasty.ping()
    } finally {
      await hasty.close()
    }
  })
})
