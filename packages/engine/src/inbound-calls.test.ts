import { type Ms, SeededRandom, VirtualTime } from '@parley/kernel'
import { dialLeg, type InviteSession, parseUri, receiveLeg, type SipCallLeg, type SipUri } from '@parley/leg'
import type { LegContext } from '@parley/leg/testing'
import { InlineMediaPlane, VirtualPacketNetwork } from '@parley/media'
import { type RequestGuard, UserAgent, VirtualNetwork } from '@parley/sip'
import { expect, it } from 'vitest'
import type { Call } from './call.ts'
import { CallCapacity } from './call-capacity.ts'
import type { AbandonReason, CallPlan } from './call-plan.ts'
import { InboundCalls } from './inbound-calls.ts'
import type { CallRefusal, InboundDecision, InboundRoute } from './inbound-router.ts'
import { KnownPeers } from './known-peers.ts'

const ENGINE = '192.0.2.2'
const CALLER = '192.0.2.1'
/** An address that a trunk lists. */
const LISTED = '192.0.2.9'

/** The inbound calls of an engine in virtual time, with a caller; records calls to the router, its one route and the call plan. */
class InboundHarness {
  readonly time = new VirtualTime()
  readonly capacity: CallCapacity
  readonly peers = new KnownPeers()
  readonly inbound: InboundCalls
  /** Methods of the requests whose route was looked up. */
  readonly lookups: string[] = []
  readonly refused: CallRefusal[] = []
  /** p99 of the lateness of the engine's media. */
  latenessMs: Ms = 0
  /** Calls that the rate of the route still allows. */
  rateLeft = Number.POSITIVE_INFINITY
  readonly abandoned: AbandonReason[] = []
  readonly started: SipCallLeg[] = []
  readonly callEnded = Promise.withResolvers<void>()
  plan: Partial<CallPlan> = {}
  decide: () => Promise<InboundDecision> = async () => this.taken()
  /** Called between the guard's decision and the creation of the session. */
  beforeInvite: () => void = () => {}
  readonly caller: LegContext
  readonly packets: VirtualPacketNetwork

  constructor(maxCalls = 2) {
    const random = new SeededRandom(1)
    const { time } = this
    const packets = new VirtualPacketNetwork({ time, random })
    this.packets = packets
    const signalling = new VirtualNetwork({ time, random })
    const context = (address: string, guard: RequestGuard): LegContext => ({
      userAgent: new UserAgent({
        time,
        random,
        transport: signalling.element({ address }),
        guard,
        onInvite: (session: InviteSession) => session.reject(500),
      }),
      random,
      media: new InlineMediaPlane({ time, random, network: packets, address }),
    })
    this.capacity = new CallCapacity(maxCalls, [{ limitMs: 40, recentMs: () => this.latenessMs }])
    const route: InboundRoute = {
      serverName: null,
      receive: () => this.decide(),
      takeRateSlot: () => this.rateLeft-- > 0,
      refused: (_invite, why) => this.refused.push(why),
    }
    const engine = context(ENGINE, (request, flow) => {
      const decision = this.inbound.guard(request, flow)
      if (request.method === 'INVITE') this.beforeInvite()
      return decision
    })
    this.inbound = new InboundCalls({
      router: {
        find: request => {
          this.lookups.push(request.method)
          return 'user' in request.uri && request.uri.user === 'known' ? route : null
        },
        lists: address => address === LISTED,
      },
      capacity: this.capacity,
      peers: this.peers,
      now: () => time.now(),
      openLeg: (session, options) => receiveLeg(engine, session, options),
      startCall: leg => {
        this.started.push(leg as SipCallLeg)
        return { leg, report: this.callEnded.promise } as unknown as Call
      },
    })
    this.caller = context(CALLER, () => ({ action: 'accept' }))
  }

  /** Calls; resolves after 300 ms of virtual time. */
  async call(user = 'known'): Promise<SipCallLeg> {
    const leg = await dialLeg(this.caller, { uri: uriOf(user), from: FROM })
    await this.pass(300)
    return leg
  }

  async pass(ms: Ms): Promise<void> {
    for (let left = ms; left > 0; left -= 20) {
      this.time.advance(20)
      for (let i = 0; i < 20; i++) await Promise.resolve()
    }
  }

  taken(): InboundDecision & { readonly kind: 'taken' } {
    const plan: CallPlan = {
      createHandler: () => {
        throw new TypeError('this harness creates no handlers')
      },
      recording: null,
      onAbandoned: why => this.abandoned.push(why),
      ...this.plan,
    }
    return { kind: 'taken', security: 'srtp-required', plan }
  }
}

const uriOf = (user: string) => parseUri(`sip:${user}@${ENGINE};transport=tls`) as SipUri
const FROM = { displayName: undefined, uri: uriOf('caller'), params: new Map() }

/** How the caller's leg ended; null: it has not ended. */
function endOf(leg: SipCallLeg): { status: number | null; retryAfterS: number | undefined } | null {
  let end = null
  leg.onEvent(event => {
    if (event.type === 'ended') end = { status: event.end.sipStatus, retryAfterS: event.end.retryAfterS }
  })
  return end
}

it('a call above the rate of its trunk is answered 503 with Retry-After, and gets no place', async () => {
  const harness = new InboundHarness()
  harness.rateLeft = 1
  await harness.call()
  const refused = await harness.call()
  expect(endOf(refused)).toEqual({ status: 503, retryAfterS: 1 })
  expect(harness.refused).toEqual(['call_rate'])
  expect(harness.started).toHaveLength(1)
  expect(harness.capacity.taken).toBe(1)
})

it('the route of an INVITE is looked up once, and its call holds a place until it ends', async () => {
  const harness = new InboundHarness()
  const leg = await harness.call()
  expect(harness.lookups).toEqual(['INVITE'])
  expect([leg.state, harness.started.length, harness.capacity.taken]).toEqual(['active', 1, 1])
  harness.callEnded.resolve()
  await harness.pass(20)
  expect(harness.capacity.taken).toBe(0)
})

it('an inbound call without RTP ends after the time that its trunk allows', async () => {
  const harness = new InboundHarness()
  const taken = harness.taken()
  harness.decide = async () => ({ ...taken, silentRemoteAfterMs: 5000 })
  await harness.call()
  harness.packets.setConditions({ loss: 1 })
  const [leg] = harness.started
  await harness.pass(4500)
  expect(leg!.state).toBe('active')
  await harness.pass(1000)
  expect(leg!.state).toBe('ended')
})

it('an INVITE without a route gets no answer and takes no place', async () => {
  const harness = new InboundHarness()
  const leg = await harness.call('unknown')
  await harness.pass(2000)
  expect([leg.state, harness.capacity.taken, harness.started]).toEqual(['dialing', 0, []])
})

it('a call beyond the capacity of the engine is refused with 503, and its route is notified', async () => {
  const harness = new InboundHarness(1)
  await harness.call()
  const second = await harness.call()
  expect(endOf(second)).toEqual({ status: 503, retryAfterS: 5 })
  expect([harness.refused, harness.started.length]).toEqual([['overload'], 1])
})

it('a call that arrives while the media of live calls is late is refused with 503, and is taken once it is on time', async () => {
  const harness = new InboundHarness(3)
  const live = await harness.call()
  harness.latenessMs = 60
  const refused = await harness.call()
  expect(endOf(refused)).toEqual({ status: 503, retryAfterS: 5 })
  expect([live.state, harness.refused, harness.capacity.taken]).toEqual(['active', ['overload'], 1])
  harness.latenessMs = 10
  await harness.call()
  expect(harness.started).toHaveLength(2)
})

it('an engine that drains refuses new callers and OPTIONS with 503, and its live call goes on', async () => {
  const harness = new InboundHarness()
  const live = await harness.call()
  harness.capacity.drain()
  const late = await harness.call()
  const options = harness.caller.userAgent.options({ uri: uriOf('known'), from: FROM })
  await harness.pass(100)
  expect(endOf(late)).toEqual({ status: 503, retryAfterS: 5 })
  expect(await options).toMatchObject({ response: { status: 503 } })
  expect([live.state, harness.refused]).toEqual(['active', ['draining']])
})

it.each([
  ['a drain', 'draining'],
  ['another call that takes the last place', 'overload'],
] as const)('%s between the guard and the INVITE refuses the caller with 503', async (_what, why) => {
  const harness = new InboundHarness(1)
  harness.beforeInvite = () => {
    if (why === 'draining') harness.capacity.drain()
    else harness.capacity.reserve()
  }
  const leg = await harness.call()
  expect(endOf(leg)).toEqual({ status: 503, retryAfterS: 5 })
  expect([harness.refused, harness.started]).toEqual([[why], []])
})

it('a drain that begins while a call is admitted does not end it', async () => {
  const harness = new InboundHarness()
  harness.decide = async () => {
    harness.capacity.drain()
    return harness.taken()
  }
  expect((await harness.call()).state).toBe('active')
})

it('a caller who cancels during admission causes no call, and the plan is notified', async () => {
  const harness = new InboundHarness()
  const admitted = Promise.withResolvers<void>()
  harness.decide = () => admitted.promise.then(() => harness.taken())
  const leg = await harness.call()
  expect(harness.capacity.taken).toBe(1)
  leg.hangUp()
  await harness.pass(300)
  admitted.resolve()
  await harness.pass(20)
  expect([harness.abandoned, harness.started, harness.capacity.taken]).toEqual([['caller_gone'], [], 0])
})

it('a call that the caller cancels while it rings ends as cancelled', async () => {
  const harness = new InboundHarness()
  const answer = Promise.withResolvers<{ readonly kind: 'answer' }>()
  harness.plan = { whileRinging: () => answer.promise }
  const leg = await harness.call()
  expect(leg.state).toBe('ringing')
  leg.hangUp()
  await harness.pass(300)
  answer.resolve({ kind: 'answer' })
  await harness.pass(20)
  const [inbound] = harness.started
  const ends: unknown[] = []
  inbound?.onEvent(event => event.type === 'ended' && ends.push(event.end))
  expect(ends).toMatchObject([{ by: 'remote', cause: 'cancelled', answered: false }])
  expect(harness.abandoned).toEqual([])
})

it('a call that its plan refuses while it rings is answered with the status of the plan, and its place is released', async () => {
  const harness = new InboundHarness()
  harness.plan = { whileRinging: async () => ({ kind: 'refuse', status: 603 }) }
  const leg = await harness.call()
  expect(endOf(leg)).toMatchObject({ status: 603 })
  expect([harness.abandoned, harness.capacity.taken]).toEqual([['refused'], 0])
})

it('a call whose admission throws is answered 480, and its place is released', async () => {
  const harness = new InboundHarness()
  harness.decide = () => Promise.reject(new Error('router bug'))
  const leg = await harness.call()
  expect(endOf(leg)).toMatchObject({ status: 480 })
  expect(harness.capacity.taken).toBe(0)
})

it('an address that a trunk lists is known, and one that we called for ten minutes', () => {
  const harness = new InboundHarness()
  expect([LISTED, CALLER].map(address => harness.inbound.isKnownAddress(address))).toEqual([true, false])
  harness.peers.note(CALLER, harness.time.now())
  expect(harness.inbound.isKnownAddress(CALLER)).toBe(true)
  harness.time.advance(600_000)
  expect(harness.inbound.isKnownAddress(CALLER)).toBe(false)
})
