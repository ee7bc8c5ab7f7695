// The process that is measured: answers every call at once.
import { Engine, SILENT_CALL, testRouter } from '@parley/engine/testing'
import { systemRandom, systemTime } from '@parley/kernel'
import type { TlsIdentity } from '@parley/leg'
import { type InviteSession, parseIpNetwork, SocketTransport, SystemResolver, UserAgent } from '@parley/sip'
import { collectGarbage } from '../../proofs/attacks/memory.ts'
import type { PlantedFault, SubjectReply, SubjectRequest } from './messages.ts'
import { SERVICE } from './service.ts'

interface Subject {
  port(transport: 'udp' | 'tcp' | 'tls'): number
  dialogs(): number
}

const ANSWER = {
  contentType: 'application/sdp',
  bytes: Buffer.from(
    ['v=0', 'o=- 1 1 IN IP4 127.0.0.1', 's=-', 'c=IN IP4 127.0.0.1', 't=0 0', 'm=audio 9 RTP/AVP 0', ''].join('\r\n'),
  ),
}
/** Calls at once: the load is limited by the machine. */
const LIMITS = { sessions: 50_000 }

async function openUserAgent(tls: TlsIdentity, planted: PlantedFault | null): Promise<Subject> {
  const transport = await SocketTransport.open({
    udpPort: 0,
    tcpPort: 0,
    tlsPort: 0,
    tls,
    resolver: new SystemResolver({ time: systemTime }),
    time: systemTime,
    random: systemRandom,
    isKnownAddress: () => true,
    limits: { maxPerPeer: 5_000 },
  })
  let invites = 0
  const userAgent = new UserAgent({
    time: systemTime,
    random: systemRandom,
    transport,
    userAgentName: 'Parley',
    limits: LIMITS,
    guard: ({ method }) => {
      const isDropped = method === 'INVITE' && planted?.kind === 'deaf' && ++invites % planted.every === 0
      return { action: isDropped ? 'drop' : 'accept' }
    },
    onInvite: (session: InviteSession) => {
      session.onEvent(() => {})
      if (planted?.kind === 'busy') compute(planted.ms)
      session.answer(ANSWER)
    },
  })
  return {
    port: name => transport.address(name)!.port,
    dialogs: () => userAgent.footprint.dialogs,
  }
}

async function openEngine(tls: TlsIdentity): Promise<Subject> {
  const engine = await Engine.start({
    endpoint: {
      tls,
      rtp: { ports: { from: 40_000, to: 59_999 }, threads: 1, localNetworks: [parseIpNetwork('127.0.0.0/8')!] },
      userAgentName: 'Parley',
    },
    router: testRouter([{ token: SERVICE, security: 'rtp-only', plan: () => SILENT_CALL }]),
    maxCalls: 5_000,
  })
  return { port: name => engine.endpoint.port(name), dialogs: () => engine.calls.size }
}

/** Takes this much processor time, however busy the machine is. */
function compute(ms: number): void {
  const until = threadMs() + ms
  while (threadMs() < until);
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

let subject: Subject | null = null

async function answer(request: SubjectRequest): Promise<SubjectReply> {
  if (request.type === 'open') {
    const { layer, tls, planted } = request
    subject = layer === 'ua' ? await openUserAgent(tls, planted) : await openEngine(tls)
    return { type: 'opened', ports: { udp: subject.port('udp'), tcp: subject.port('tcp'), tls: subject.port('tls') } }
  }
  if (request.collect) collectGarbage()
  const { heapUsed, external, rss } = process.memoryUsage()
  const { user, system } = process.cpuUsage()
  return {
    type: 'measured',
    measured: {
      cpuMs: (user + system) / 1000,
      heapBytes: heapUsed + external,
      rssBytes: rss,
      dialogs: subject?.dialogs() ?? 0,
    },
  }
}

process.on('message', (request: SubjectRequest) => {
  void answer(request).then(reply => process.send!(reply))
})
process.on('disconnect', () => process.exit())
