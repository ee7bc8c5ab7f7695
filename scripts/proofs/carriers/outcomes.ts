import { sdp } from './carrier-harness.ts'
import { check, checkThat } from './checks.ts'
import type { ScenarioGroup, SocketScenario } from './scenario.ts'
import { LIMIT, LIMITED_TOKEN, type SocketCarrier, type SocketHarness, TOKEN } from './socket-harness.ts'

const REFUSALS = [
  { status: 603, kind: 'busy', detail: 'declined', issue: 'RestComm/Restcomm-Connect#785' },
  { status: 607, kind: 'busy', detail: 'declined', clause: 'RFC 8197 section 3' },
  { status: 486, kind: 'busy', detail: null, issue: 'tayler6000/pyVoIP#244' },
  { status: 600, kind: 'busy', detail: null, issue: 'irontec/sngrep#165' },
  { status: 302, kind: 'error', detail: 'moved', clause: 'RFC 3261 section 21.3.3' },
  { status: 403, kind: 'error', detail: 'forbidden', clause: 'RFC 3261 section 21.4.4' },
  { status: 404, kind: 'error', detail: 'number_not_found', clause: 'RFC 3261 section 21.4.5' },
] as const

async function outcomeOf(h: SocketHarness, script: (carrier: SocketCarrier) => Promise<void> | void): Promise<object> {
  const carrier = await h.carrier()
  const call = await carrier.dial()
  await script(carrier)
  const { run } = await call.report
  return run
}

const refused = (row: (typeof REFUSALS)[number]): SocketScenario => ({
  name: `outcome-of-${row.status}`,
  carrier: `${row.status} to the INVITE`,
  engine: `the run ends as \`${row.kind}\`${row.detail === null ? ', without a detail' : `, \`${row.detail}\``}`,
  source: 'issue' in row ? { issue: row.issue } : { clause: row.clause },
  async runOverSockets(h) {
    const run = await outcomeOf(h, carrier => carrier.respond(row.status))
    const { kind, detail, sip_status } = (run as { outcome: Record<string, unknown> }).outcome
    check('outcome', [kind, detail, sip_status], [row.kind, row.detail, row.status])
  },
})

/** An operator cancels at a moment; the far end behaves as it should. */
const cancelled = (
  name: string,
  carrier: string,
  until: (carrier: SocketCarrier) => Promise<void>,
): SocketScenario => ({
  name,
  carrier,
  engine: 'the run ends `cancelled`, by the operator',
  source: { issue: 'livekit/sip#684' },
  async runOverSockets(h) {
    const peer = await h.carrier()
    peer.carrier.onRequest = received => {
      if (received.message.method !== 'CANCEL') return false
      peer.carrier.reply(received, 200)
      peer.respond(487)
      return true
    }
    const call = await peer.dial()
    await until(peer)
    const { run } = await peer.report(call, true)
    check('outcome', [run.state, run.outcome?.kind, run.outcome?.ended_by], ['cancelled', 'cancelled', 'operator'])
  },
})

const SCENARIOS: readonly SocketScenario[] = [
  ...REFUSALS.map(refused),
  cancelled(
    'cancelled-while-dialling',
    'has received the INVITE and answered 100 when the call is cancelled',
    async peer => peer.respond(100),
  ),
  cancelled('cancelled-while-ringing', 'rings when the call is cancelled', async peer => peer.respond(180)),
  cancelled('cancelled-at-the-answer', 'sends 200 in the moment in which the call is cancelled', async peer =>
    peer.respond(200, { body: sdp({ address: '127.0.0.1', port: 39_998 }) }),
  ),
  {
    name: 'callee-hangs-up',
    carrier: 'answers and hangs up',
    engine: 'the run names the callee as the one who ended the call',
    source: { issue: 'livekit/sip#280' },
    async runOverSockets(h) {
      const run = await outcomeOf(h, async carrier => {
        await carrier.answer()
        carrier.carrier.request('BYE', carrier.invite)
      })
      const { detail, ended_by } = (run as { outcome: Record<string, unknown> }).outcome
      check('outcome', [detail, ended_by], ['callee_hung_up', 'callee'])
    },
  },
  {
    name: 'greeting-of-a-call',
    carrier: 'answers and counts the packets of the greeting',
    engine: 'a second of greeting arrives whole',
    source: { issue: 'livekit/sip#102' },
    async runOverSockets(h) {
      const peer = await h.carrier()
      const call = await peer.dial()
      await peer.answer()
      checkThat('a greeting of 50 packets', await peer.until(() => peer.packetsWithSound >= 50))
      await peer.report(call, true)
    },
  },
  {
    name: 'calls-above-the-rate',
    carrier: `twenty calls at once on a trunk that may begin ${LIMIT}`,
    engine: 'the others get 503 with Retry-After',
    source: { clause: 'RFC 3261 section 21.5.4' },
    async runOverSockets(h) {
      const peer = await h.carrier()
      const port = h.engine.endpoint.port('udp')
      const to = { address: '127.0.0.1', port, transport: 'udp' } as const
      const uri = `sip:${LIMITED_TOKEN}@127.0.0.1:${port}`
      const body = sdp({ address: '127.0.0.1', port: 39_996 })
      const sent = Array.from({ length: 20 }, () => peer.carrier.open('INVITE', uri, to, { body }))
      const final = () => sent.flatMap(sequence => peer.carrier.answersTo(sequence).slice(0, 1))
      await peer.until(() => final().length === sent.length)
      const refusals = final().filter(({ status }) => status === 503)
      check('refused', refusals.length, sent.length - LIMIT)
      checkThat(
        'each with Retry-After',
        refusals.every(({ headers }) => headers.has('Retry-After')),
      )
      for (const { message, flow } of peer.carrier.responses.filter(({ message }) => message.status === 200)) {
        peer.carrier.request('ACK', { message, flow }, { sequence: message.cseq.sequence })
        peer.carrier.request('BYE', { message, flow })
      }
    },
  },
  {
    name: 'unfinished-handshakes',
    carrier: 'one address holds 300 TLS connections without a handshake; another one asks by OPTIONS over UDP and TLS',
    engine: 'the other one is answered; no address holds more than 64',
    source: { clause: 'RFC 3261 section 26.3.2.4' },
    floods: true,
    async runOverSockets(h) {
      await h.idleHandshakes('127.0.0.7', 300)
      const { handshakes } = h.engine.endpoint.transportStats()
      checkThat(`${handshakes} handshakes are held`, handshakes <= 64)
      await checkOptions(await h.carrier('127.0.0.8'), h)
      const { sent, answered } = await h.optionsOverTls('127.0.0.8', 5)
      checkThat(`${answered} of ${sent} OPTIONS over new TLS connections are answered within 2 s`, answered === sent)
    },
  },
  {
    name: 'datagram-flood',
    carrier: 'one address sends 20,000 datagrams at once; another one asks by OPTIONS',
    engine: 'what exceeds the budget of the first is dropped unread; the other one is answered',
    source: { clause: 'RFC 3261 section 26.3.2.4' },
    floods: true,
    async runOverSockets(h) {
      const flooder = await h.carrier('127.0.0.9')
      const port = h.engine.endpoint.port('udp')
      const before = h.engine.endpoint.transportStats().datagramsDropped
      const to = { address: '127.0.0.1', port, transport: 'udp' } as const
      for (let i = 0; i < 20_000; i++) flooder.carrier.sendText('OPTIONS sip:scan SIP/2.0\r\n\r\n', to)
      await checkOptions(await h.carrier('127.0.0.8'), h)
      checkThat('datagrams were dropped', h.engine.endpoint.transportStats().datagramsDropped > before)
    },
  },
]

async function checkOptions(peer: SocketCarrier, h: SocketHarness): Promise<void> {
  const port = h.engine.endpoint.port('udp')
  const to = { address: '127.0.0.1', port, transport: 'udp' } as const
  // Sent again as a transaction would: a datagram may be lost in the flood.
  const sequences: number[] = []
  const isAnswered = () => sequences.some(sequence => peer.carrier.answersTo(sequence).length > 0)
  for (let i = 0; i < 4 && !isAnswered(); i++) {
    sequences.push(peer.carrier.open('OPTIONS', `sip:${TOKEN}@127.0.0.1:${port}`, to))
    await new Promise(resolve => setTimeout(resolve, 500))
  }
  checkThat('OPTIONS of another address is answered within 2 s', isAnswered())
}

export const OUTCOMES: ScenarioGroup = { title: 'Runs, and floods (a whole engine on sockets)', scenarios: SCENARIOS }
