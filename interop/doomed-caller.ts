import { readFileSync } from 'node:fs'
import { dialLeg, type LegSecurity, parseUri, type SipUri, Station } from '@parley/leg'
import { interopCertificates } from './recipe.ts'

// A process of its own that calls a URI and is killed by the test. It tells what an engine would have stored, one JSON
// object a line: {"attempt": …} before the INVITE leaves, {"state": "ringing"}, {"dialog": …} once the call is heard.
const [uri = '', security = 'srtp-required'] = process.argv.slice(2)
const files = await interopCertificates()

const station = await Station.open({
  tls: {
    cert: readFileSync(files.engine.cert, 'utf8'),
    key: readFileSync(files.engine.key, 'utf8'),
    ca: readFileSync(files.ca, 'utf8'),
  },
  rtp: { ports: { from: 31_000, to: 31_999 }, threads: 1 },
  userAgentName: 'Parley',
  gatekeeper: () => ({ verdict: 'drop' }),
  onInvite: () => {},
})
const leg = await dialLeg(station, {
  uri: parseUri(uri) as SipUri,
  from: { displayName: undefined, uri: parseUri('sip:+15550002222@localhost') as SipUri, params: new Map() },
  security: security as LegSecurity,
  beforeAttempt: async attempt => tell({ attempt }),
})
leg.onEvent(event => {
  if (event.type === 'ringing') tell({ state: 'ringing' })
  else if (event.type === 'first-packet' && leg.dialog !== null) tell({ dialog: leg.dialog })
  else if (event.type === 'ended') tell({ state: 'ended', end: { ...event.end, media: null } })
})

function tell(fact: object): void {
  process.stdout.write(`${JSON.stringify(fact)}\n`)
}
