import { readFileSync, writeSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { dialLeg, Endpoint, type LegSecurity, parseUri, type SipUri } from '@parley/leg'
import { ENGINE_RTP_PORTS } from './ports.ts'
import { interopCertificates } from './recipe.ts'

// A process that calls a URI and is killed by the test. It prints what an engine would have stored, one JSON object per line: {"attempt": …} before the INVITE leaves, {"state": "ringing"}, {"dialog": …} before the ACK leaves, which
// never does with "unacknowledged", and {"audible": true} at the first audio packet.
const [uri = '', security = 'srtp-required', fate = ''] = process.argv.slice(2)
const files = await interopCertificates()

const endpoint = await Endpoint.open({
  tls: {
    cert: readFileSync(files.engine.cert, 'utf8'),
    key: readFileSync(files.engine.key, 'utf8'),
    ca: readFileSync(files.ca, 'utf8'),
  },
  rtp: { ports: ENGINE_RTP_PORTS, threads: 1 },
  userAgentName: 'Parley',
  guard: () => ({ action: 'drop' }),
  onInvite: () => {},
})
const leg = await dialLeg(endpoint, {
  uri: parseUri(uri) as SipUri,
  from: { displayName: undefined, uri: parseUri('sip:+15550002222@localhost') as SipUri, params: new Map() },
  security: security as LegSecurity,
  beforeAttempt: async attempt => print({ attempt }),
  beforeAcknowledging: async dialog => {
    // An ACK that does not wait for this promise has been sent by then.
    if (fate === 'unacknowledged') await pause(100)
    print({ dialog })
    // Blocks until the test kills the process.
    if (fate === 'unacknowledged') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  },
})
leg.onEvent(event => {
  if (event.type === 'ringing') print({ state: 'ringing' })
  else if (event.type === 'first-packet') print({ audible: true })
  else if (event.type === 'ended') print({ state: 'ended', end: { ...event.end, media: null } })
})

function print(fact: object): void {
  writeSync(1, `${JSON.stringify(fact)}\n`)
}
