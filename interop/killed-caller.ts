import { readFileSync, writeSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { dialLeg, Endpoint, type LegSecurity, parseUri, type SipUri } from '@parley/leg'
import { interopCertificates } from './recipe.ts'

// A process of its own that calls a URI and is killed by the test. It tells what an engine would have stored, one JSON
// object a line: {"attempt": …} before the INVITE leaves, {"state": "ringing"}, {"dialog": …} before the ACK leaves, which
// never does with "unacknowledged", and {"heard": true} once the call is heard.
const [uri = '', security = 'srtp-required', fate = ''] = process.argv.slice(2)
const files = await interopCertificates()

const endpoint = await Endpoint.open({
  tls: {
    cert: readFileSync(files.engine.cert, 'utf8'),
    key: readFileSync(files.engine.key, 'utf8'),
    ca: readFileSync(files.ca, 'utf8'),
  },
  rtp: { ports: { from: 31_000, to: 31_999 }, threads: 1 },
  userAgentName: 'Parley',
  guard: () => ({ action: 'drop' }),
  onInvite: () => {},
})
const leg = await dialLeg(endpoint, {
  uri: parseUri(uri) as SipUri,
  from: { displayName: undefined, uri: parseUri('sip:+15550002222@localhost') as SipUri, params: new Map() },
  security: security as LegSecurity,
  beforeAttempt: async attempt => tell({ attempt }),
  beforeAcknowledging: async dialog => {
    // An ACK that does not wait has left by then.
    if (fate === 'unacknowledged') await pause(100)
    tell({ dialog })
    // Stands still until it is killed, however long that takes.
    if (fate === 'unacknowledged') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  },
})
leg.onEvent(event => {
  if (event.type === 'ringing') tell({ state: 'ringing' })
  else if (event.type === 'first-packet') tell({ heard: true })
  else if (event.type === 'ended') tell({ state: 'ended', end: { ...event.end, media: null } })
})

function tell(fact: object): void {
  writeSync(1, `${JSON.stringify(fact)}\n`)
}
