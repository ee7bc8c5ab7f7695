// A caller in a process of its own: calls over TLS, calls that stay, and connections.
import { connect } from 'node:tls'
import { systemRandom, systemTime } from '@parley/kernel'
import type { TlsIdentity } from '@parley/leg'
import { parseNameAddr, parseUri, type SipUri, SocketTransport, SystemResolver, UserAgent } from '@parley/sip'
import type { CallerReply, CallerRequest } from './messages.ts'

const OFFER = {
  contentType: 'application/sdp',
  bytes: Buffer.from(
    ['v=0', 'o=- 1 1 IN IP4 127.0.0.1', 's=-', 'c=IN IP4 127.0.0.1', 't=0 0', 'm=audio 9 RTP/AVP 0', ''].join('\r\n'),
  ),
}
const FROM = parseNameAddr('<sip:caller@127.0.0.1>')!

class Caller {
  readonly #userAgent: UserAgent
  readonly #target: Extract<CallerRequest, { type: 'open' }>
  readonly #uri: SipUri

  private constructor(userAgent: UserAgent, target: Extract<CallerRequest, { type: 'open' }>) {
    this.#userAgent = userAgent
    this.#target = target
    this.#uri = parseUri(`sip:${target.user}@127.0.0.1:${target.port};transport=tls`) as SipUri
  }

  static async open(target: Extract<CallerRequest, { type: 'open' }>): Promise<Caller> {
    const transport = await openTransport(target.tls)
    const userAgent = new UserAgent({
      time: systemTime,
      random: systemRandom,
      transport,
      guard: () => ({ action: 'drop' }),
      onInvite: () => {},
      limits: { sessions: 50_000, clientTransactions: 50_000 },
    })
    return new Caller(userAgent, target)
  }

  /** Begins calls at a steady rate. Resolves with the time from INVITE to 200 of each; undefined: it failed. */
  async calls(count: number, perSecond: number, staysUp: boolean): Promise<(number | undefined)[]> {
    const began = performance.now()
    const calls: Promise<number | undefined>[] = []
    while (calls.length < count) {
      const due = Math.min(count, Math.ceil(((performance.now() - began) / 1000) * perSecond))
      while (calls.length < due) calls.push(this.#call(staysUp))
      await new Promise(resolve => setTimeout(resolve, 2))
    }
    return Promise.all(calls)
  }

  #call(staysUp: boolean): Promise<number | undefined> {
    const began = performance.now()
    const session = this.#userAgent.invite({ uri: this.#uri, from: FROM, body: OFFER })
    return new Promise(resolve => {
      let answeredAfter: number | undefined
      session.onEvent(event => {
        if (event.type === 'answered') {
          answeredAfter = performance.now() - began
          if (staysUp) resolve(answeredAfter)
          else session.hangUp()
        } else if (event.type === 'ended') resolve(answeredAfter)
      })
    })
  }

  /** Opens connections and asks on each by OPTIONS; they stay open. Resolves with the number that failed. */
  async connections(count: number): Promise<number> {
    let failed = 0
    for (let i = 0; i < count; i++) if (!(await this.#connection(i))) failed++
    return failed
  }

  #connection(serial: number): Promise<boolean> {
    const { port, user, tls } = this.#target
    const socket = connect({ host: '127.0.0.1', port, ca: tls.ca, servername: 'localhost' })
    return new Promise(resolve => {
      socket.once('secureConnect', () => socket.write(options(user, serial)))
      socket.once('data', () => resolve(true))
      socket.once('close', () => resolve(false))
      socket.on('error', () => {})
    })
  }
}

function openTransport(tls: TlsIdentity): Promise<SocketTransport> {
  return SocketTransport.open({
    tlsPort: 0,
    tls,
    resolver: new SystemResolver({ time: systemTime }),
    time: systemTime,
    random: systemRandom,
  })
}

function options(user: string, serial: number): string {
  return [
    `OPTIONS sip:${user}@127.0.0.1 SIP/2.0`,
    `Via: SIP/2.0/TLS 127.0.0.1:9;branch=z9hG4bKconnection${serial}`,
    'Max-Forwards: 70',
    'From: <sip:caller@127.0.0.1>;tag=c',
    `To: <sip:${user}@127.0.0.1>`,
    `Call-ID: connection-${serial}`,
    'CSeq: 1 OPTIONS',
    'Content-Length: 0',
    '',
    '',
  ].join('\r\n')
}

let caller: Caller | null = null

async function answer(request: CallerRequest): Promise<CallerReply> {
  if (request.type === 'open') {
    caller = await Caller.open(request)
    return { type: 'opened' }
  }
  if (caller === null) throw new Error('the caller is not open')
  if (request.type === 'connect') return { type: 'connected', failed: await caller.connections(request.count) }
  const { count, perSecond } = request
  const began = performance.now()
  const times = await caller.calls(count, perSecond, request.type === 'hold')
  const seconds = (performance.now() - began) / 1000
  const inviteMs = times.filter(ms => ms !== undefined)
  const failed = count - inviteMs.length
  return request.type === 'hold' ? { type: 'held', failed } : { type: 'called', failed, inviteMs, seconds }
}

process.on('message', (request: CallerRequest) => {
  void answer(request).then(reply => process.send!(reply))
})
process.on('disconnect', () => process.exit())
