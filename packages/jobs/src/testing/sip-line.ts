import { systemRandom, systemTime } from '@parley/kernel'
import {
  type InviteSession,
  parseNameAddr,
  parseUri,
  type SessionEnd,
  type SipUri,
  SocketTransport,
  SystemResolver,
  type TlsIdentity,
  type TransportName,
  UserAgent,
} from '@parley/sip'
import type { JsonObject } from '@parley/store'

const BODY = { contentType: 'application/sdp', bytes: new TextEncoder().encode('v=0\r\n') }

interface End {
  readonly agent: UserAgent
  readonly transport: SocketTransport
  close(): Promise<void>
}

async function openEnd(tls: TlsIdentity, onInvite: (session: InviteSession) => void): Promise<End> {
  const resolver = new SystemResolver({ time: systemTime })
  const shared = { time: systemTime, random: systemRandom }
  const transport = await SocketTransport.open({ ...shared, udpPort: 0, tcpPort: 0, tlsPort: 0, tls, resolver })
  const agent = new UserAgent({ ...shared, transport, guard: () => ({ action: 'accept' }), onInvite })
  return {
    agent,
    transport,
    async close() {
      await transport.close()
      resolver.close()
    },
  }
}

/** Somebody's telephone on loopback: it rings, is answered at once or never, and keeps how its calls ended. */
export interface Telephone {
  readonly ends: readonly SessionEnd[]
  uri(transport: TransportName): SipUri
  close(): Promise<void>
}

export async function openTelephone(tls: TlsIdentity, answers: boolean): Promise<Telephone> {
  const ends: SessionEnd[] = []
  const { transport, close } = await openEnd(tls, session => {
    session.onEvent(event => {
      if (event.type === 'ended') ends.push(event.end)
    })
    session.progress(180)
    if (answers) session.answer(BODY)
  })
  return {
    ends,
    uri(name) {
      const { host, port } = transport.advertised(name)!
      return parseUri(`sip:+4930222@${host}:${port};transport=${name}`) as SipUri
    },
    close,
  }
}

/** What an engine leaves behind that is killed in the middle of a call: what it had stored, and a far end that knows nothing. */
export async function killedInCall(
  tls: TlsIdentity,
  uri: SipUri,
  until: 'ringing' | 'answered',
): Promise<{ readonly dial: JsonObject; readonly dialog: JsonObject | null }> {
  const end = await openEnd(tls, session => session.reject(403))
  let dial: JsonObject | null = null
  const session = end.agent.invite({
    uri,
    from: parseNameAddr('<sip:+4930111@example.com>')!,
    body: BODY,
    beforeAttempt: async attempt => {
      dial = attempt as unknown as JsonObject
    },
  })
  await new Promise<void>((resolve, reject) => {
    session.onEvent(event => {
      if (event.type === (until === 'ringing' ? 'progress' : 'answered')) resolve()
      if (event.type === 'ended') reject(new Error(event.end.detail))
    })
  })
  const dialog = until === 'ringing' ? null : session.dialog
  await end.close()
  return { dial: JSON.parse(JSON.stringify(dial)), dialog: JSON.parse(JSON.stringify(dialog ?? null)) }
}
