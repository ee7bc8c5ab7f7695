import type { Scope } from '@parley/contract'
import { VirtualTime } from '@parley/kernel'
import type { Flow, Registration, RegistrationOptions, RegistrationStatus } from '@parley/sip'
import { dialableTrunk, type InboundTrunk, registrationOf } from '@parley/store'
import { type TestDatabase, testDatabase, workspace } from '@parley/store/testing'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { TrunkRegistrations } from './trunk-registrations.ts'

const LOOK_MS = 3000
const REGISTERED: RegistrationStatus = {
  state: 'registered',
  expiresAt: 600_000,
  sipStatus: 200,
  detail: 'REGISTER answered 200 OK',
  serviceRoute: [],
  flow: { id: 'flow-1' } as Flow,
}

const until = <Result>(check: () => Result | Promise<Result>) => vi.waitFor(check)

let test: TestDatabase
let scope: Scope
let trunks: InboundTrunk[]
let engines: TestEngine[]
beforeAll(async () => {
  test = await testDatabase()
})
afterAll(() => test.close())
beforeEach(async () => {
  scope = await workspace(test)
  engines = []
  trunks = [await trunk('carrier')]
})
afterEach(() => Promise.all(engines.map(engine => engine.close())))

async function trunk(trunk_id: string): Promise<InboundTrunk> {
  const details = { register: true, identity: 'account' }
  await test.owner.query(
    `insert into parley.trunks (tenant_id, trunk_id, name, provider, termination_uri, inbound, inbound_token, details)
     values ($1, $2, 'Carrier', 'generic_sip', 'sbc.example.com', true, $3, $4)`,
    [scope.tenant_id, trunk_id, `token-${trunk_id}-${scope.tenant_id}`, JSON.stringify(details)],
  )
  const rest = { name: 'Carrier', token_sha256: '', termination_uri: 'sbc.example.com', first_number: null }
  return { scope, trunk_id, details, ...rest }
}

/** The registrations of one engine; its registrar accepts everything at once. */
class TestEngine {
  readonly time = new VirtualTime()
  readonly registered: RegistrationOptions[] = []
  stopped = 0
  status: RegistrationStatus = REGISTERED
  readonly registrations: TrunkRegistrations

  constructor(engineId: string) {
    this.registrations = new TrunkRegistrations({
      database: test.database,
      directory: {
        get trunks() {
          return trunks
        },
      },
      sealer: { seal: plain => plain, open: sealed => sealed },
      engineId,
      instanceId: crypto.randomUUID(),
      hasOtherEngine: async () => engines.length > 1,
      time: this.time,
      wallClock: Date.now,
      onProblem: (what, error) => {
        throw new Error(what, { cause: error })
      },
    })
    this.registrations.begin({ register: options => this.#register(options) })
    engines.push(this)
  }

  #register(options: RegistrationOptions): Registration {
    this.registered.push(options)
    queueMicrotask(() => options.onChange(this.status))
    const engine = this
    return {
      get status() {
        return engine.status
      },
      get flow() {
        return engine.status.flow
      },
      stop: async () => {
        engine.stopped++
        options.onChange({ ...REGISTERED, state: 'unregistered', expiresAt: null, flow: undefined })
      },
    } as unknown as Registration
  }

  /** Lets the engine look after its leases once. */
  async look(): Promise<void> {
    await until(() => expect(this.time.nextDeadline()).toBeDefined())
    this.time.advance(LOOK_MS)
    await until(() => expect(this.time.nextDeadline()).toBeDefined())
  }

  async close(): Promise<void> {
    const closed = this.registrations.close()
    const passing = setInterval(() => this.time.advance(100), 5)
    await closed
    clearInterval(passing)
  }
}

const stored = () => registrationOf(test.database.within(scope), scope, 'carrier')

it('one engine registers a trunk, with its account and its inbound token as Contact', async () => {
  const [one, two] = [new TestEngine('e-1'), new TestEngine('e-2')]
  await one.look()
  await two.look()
  expect(two.registered).toEqual([])
  expect(one.registered).toMatchObject([
    {
      registrar: { user: undefined, host: 'sbc.example.com' },
      address: { user: 'account', host: 'sbc.example.com' },
      contactUser: `token-carrier-${scope.tenant_id}`,
      nextHop: { host: 'sbc.example.com', transport: 'tls' },
    },
  ])
  await until(async () =>
    expect(await stored()).toMatchObject({ engine_id: 'e-1', state: 'registered', sip_status: 200 }),
  )
  await one.look()
  expect(one.registered).toHaveLength(1)
})

it('when the engine that holds a registration dies, another registers once the lease has expired', async () => {
  const [dead, other] = [new TestEngine('e-1'), new TestEngine('e-2')]
  await dead.look()
  expect(dead.registered).toHaveLength(1)
  await other.look()
  expect(other.registered).toEqual([])
  await test.owner.query("update parley.leases set expires_at = now() where name like 'registration/' || $1 || '/%'", [
    scope.tenant_id,
  ])
  await other.look()
  expect(other.registered).toHaveLength(1)
  await until(async () => expect(await stored()).toMatchObject({ engine_id: 'e-2', fence: '2' }))
  // The first engine was only slow: it removes its own binding, and the state of the second stays.
  await dead.look()
  await until(() => expect(dead.stopped).toBe(1))
  expect(await stored()).toMatchObject({ engine_id: 'e-2', state: 'registered' })
})

it('a draining engine removes its binding only after another engine has registered', async () => {
  const [old, next] = [new TestEngine('e-1'), new TestEngine('e-2')]
  await old.look()
  next.status = { ...REGISTERED, state: 'registering', expiresAt: null }
  const drained = old.registrations.drain()
  await until(async () => {
    if (next.registered.length === 0) await next.look()
    expect(next.registered).toHaveLength(1)
  })
  old.time.advance(1000)
  await until(async () => expect(await stored()).toMatchObject({ engine_id: 'e-2', state: 'registering' }))
  expect(old.stopped).toBe(0)
  next.registered[0]!.onChange(REGISTERED)
  await until(async () => expect(await stored()).toMatchObject({ state: 'registered' }))
  const passing = setInterval(() => old.time.advance(1000), 5)
  await drained
  clearInterval(passing)
  await until(() => expect(old.stopped).toBe(1))
  expect(await stored()).toMatchObject({ engine_id: 'e-2', state: 'registered' })
})

it('an engine that drains alone keeps its binding until it closes', async () => {
  const only = new TestEngine('e-1')
  await only.look()
  await only.registrations.drain()
  expect(only.stopped).toBe(0)
  await only.close()
  expect(only.stopped).toBe(1)
  expect(await stored()).toMatchObject({ state: 'unregistered' })
})

it('a trunk that no longer registers, and one whose account changed, loses its binding', async () => {
  const engine = new TestEngine('e-1')
  await engine.look()
  await test.owner.query(
    `update parley.trunks set details = '{"register": true, "identity": "other", "keep_alive": 10}' where tenant_id = $1`,
    [scope.tenant_id],
  )
  trunks = [{ ...trunks[0]!, details: { register: true, identity: 'other', keep_alive: 10 } }]
  await engine.look()
  await until(() => expect(engine.stopped).toBe(1))
  await until(async () => {
    await engine.look()
    expect(engine.registered).toHaveLength(2)
  })
  expect(engine.registered[1]).toMatchObject({ address: { user: 'other' }, keepAliveMs: 10_000 })
  trunks = []
  await engine.look()
  await until(() => expect(engine.stopped).toBe(2))
})

it('the connection of a registration finds its trunks', async () => {
  trunks.push(await trunk('second'))
  const engine = new TestEngine('e-1')
  await engine.look()
  await until(() => expect(engine.registered).toHaveLength(2))
  expect(engine.registrations.trunksOn('flow-1').map(({ trunk_id }) => trunk_id)).toEqual(['carrier', 'second'])
  expect(engine.registrations.trunksOn('flow-2')).toEqual([])
})

it('outbound calls of a registered trunk take the Service-Route of its registrar', async () => {
  const engine = new TestEngine('e-1')
  const route = { displayName: undefined, uri: { ...LOOSE, host: 'p1.example' }, params: new Map() }
  engine.status = { ...REGISTERED, expiresAt: engine.time.now() + 600_000, serviceRoute: [route] }
  await engine.look()
  await until(async () =>
    expect(await dialableTrunk(test.database.within(scope), scope, 'carrier')).toMatchObject({
      service_route: ['<sip:p1.example;lr>'],
    }),
  )
})

const LOOSE = {
  scheme: 'sip',
  user: undefined,
  password: undefined,
  port: undefined,
  params: new Map([['lr', null]]),
  headers: [],
} as const
