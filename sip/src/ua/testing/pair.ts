import { SeededRandom, VirtualTime } from '@parley/kernel'
import type { SipUri } from '../../message/message.ts'
import type { TransportName } from '../../transport/transport.ts'
import type { Body, InviteSession, OutboundCall, RequestGuard, SessionEvent } from '../session.ts'
import { UserAgent } from '../user-agent.ts'
import type { LogEntry, UserAgentOptions } from '../user-agent-options.ts'
import { type PassedMessage, VirtualNetwork } from '../virtual-network.ts'
import type { VirtualTransport } from '../virtual-transport.ts'

export const sdp = (text: string): Body => ({ contentType: 'application/sdp', bytes: new TextEncoder().encode(text) })

export const textOf = (body: Body | undefined): string | undefined =>
  body === undefined ? undefined : new TextDecoder().decode(body.bytes)

export function sipUri(user: string, host: string, transport: TransportName): SipUri {
  return {
    scheme: 'sip',
    user,
    password: undefined,
    host,
    port: undefined,
    params: new Map([['transport', transport]]),
    headers: [],
  }
}

/** The events of a session, in order. */
export class Heard {
  readonly session: InviteSession
  readonly events: SessionEvent[] = []

  constructor(session: InviteSession, react: (event: SessionEvent, session: InviteSession) => void = () => {}) {
    this.session = session
    session.onEvent(event => {
      this.events.push(event)
      react(event, session)
    })
  }

  get types(): string[] {
    return this.events.map(event => event.type)
  }

  get end() {
    const last = this.events.at(-1)
    return last?.type === 'ended' ? last.end : undefined
  }

  body(type: 'answered' | 'acknowledged' | 'offer' | 'offer-answered' | 'reoffer-answered'): string | undefined {
    const event = this.events.findLast(candidate => candidate.type === type)
    return event !== undefined && 'body' in event ? textOf(event.body) : undefined
  }
}

type React = (event: SessionEvent, session: InviteSession) => void

interface Side {
  readonly ua: UserAgent
  readonly transport: VirtualTransport
  readonly calls: Heard[]
  readonly logs: LogEntry[]
  onCall: (session: InviteSession) => React | undefined
}

/** Two user agents, "a.test" at 10.0.0.1 and "b.test" at 10.0.0.2, that reach each other. */
export class Pair {
  readonly time = new VirtualTime()
  readonly network: VirtualNetwork
  readonly a: Side
  readonly b: Side
  readonly transport: TransportName

  constructor(
    options: {
      transport?: TransportName
      seed?: number
      loss?: number
      a?: Partial<UserAgentOptions>
      b?: Partial<UserAgentOptions>
      guard?: RequestGuard
    } = {},
  ) {
    this.transport = options.transport ?? 'udp'
    const seed = options.seed ?? 1
    this.network = new VirtualNetwork({ time: this.time, random: new SeededRandom(seed), loss: options.loss ?? 0 })
    const guard = options.guard ?? (() => ({ action: 'accept' }))
    this.a = this.#side('a.test', '10.0.0.1', seed * 2 + 1, { guard: guard, ...options.a })
    this.b = this.#side('b.test', '10.0.0.2', seed * 2 + 2, { guard: guard, ...options.b })
  }

  #side(
    host: string,
    address: string,
    seed: number,
    options: Partial<UserAgentOptions> & { guard: RequestGuard },
  ): Side {
    const transport = this.network.element({ address, host })
    const calls: Heard[] = []
    const logs: LogEntry[] = []
    const side: Side = {
      transport,
      calls,
      logs,
      onCall: () => undefined,
      ua: new UserAgent({
        time: this.time,
        random: new SeededRandom(seed),
        transport,
        onInvite: session => {
          let react: React | undefined
          calls.push(new Heard(session, (event, callSession) => react?.(event, callSession)))
          react = side.onCall(session)
        },
        log: entry => logs.push(entry),
        ...options,
      }),
    }
    return side
  }

  /** Starts a call, by default from "a", to the other user agent. */
  call(options: Partial<OutboundCall> = {}, react?: React, from: 'a' | 'b' = 'a'): Heard {
    const [ours, theirs] = from === 'a' ? ['a.test', 'b.test'] : ['b.test', 'a.test']
    const session = this[from].ua.invite({
      uri: sipUri('bob', theirs, this.transport),
      from: { displayName: 'Alice', uri: sipUri('alice', ours, this.transport), params: new Map() },
      body: sdp('offer'),
      ...options,
    })
    return new Heard(session, react)
  }

  /** A call that is established on both sides. */
  established(from: 'a' | 'b' = 'a', options: Partial<OutboundCall> = {}): { caller: Heard; callee: Heard } {
    const caller = this.call(options, undefined, from)
    this.time.advance(200)
    const callee = this[from === 'a' ? 'b' : 'a'].calls.at(-1)
    if (callee === undefined) throw new Error('no call came in')
    callee.session.answer(sdp('answer'))
    this.time.advance(200)
    return { caller, callee }
  }

  /** First lines of what passed, with direction: "a> INVITE", "b> 200 INVITE". */
  get trace(): string[] {
    return this.network.passed.map(traceLine)
  }
}

function traceLine(message: PassedMessage): string {
  const who =
    message.from.address === '10.0.0.1' ? 'a' : message.from.address === '10.0.0.2' ? 'b' : message.from.address
  const [first = ''] = message.text.split('\r\n')
  const method = /^CSeq: *\d+ +(\S+)/im.exec(message.text)?.[1] ?? ''
  const what = first.startsWith('SIP/2.0 ') ? `${first.slice(8, 11)} ${method}` : (first.split(' ')[0] ?? '')
  return `${who}> ${what}${message.lost ? ' lost' : ''}`
}
