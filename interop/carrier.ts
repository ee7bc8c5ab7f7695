import type { AtTestEnd } from './clean-up.ts'
import { freePeerPorts, rtpRange } from './ports.ts'
import { readRunFile, startRecipe } from './recipe.ts'

interface CarrierOptions {
  /** SIP URI for calls from the inside, over TLS with SRTP. */
  readonly engineUri: string
  /** "host:port" inside that receives the calls of the engine, over UDP with plain RTP. */
  readonly insideTarget: string
  readonly atTestEnd?: AtTestEnd
}

/** Kamailio and rtpengine. */
export interface Carrier {
  /** "host:port" inside, UDP and TCP: calls to this address reach the engine. */
  readonly inside: string
  /** SIP URI by which the engine calls `number` inside. */
  uri(number: string): string
  /** Kamailio's log, one line per request or response: "INVITE sip:… from tls:127.0.0.1:… cseq=1 call=…". */
  log(): string
  /** The SDES suites that rtpengine used outside in the call with this Call-ID. */
  suites(callId: string): ReadonlySet<string>
}

/** Credentials that the carrier's proxy requires. */
export const CARRIER_CREDENTIALS = { username: 'engine', password: 'engine-secret' } as const

/** Resolves when the carrier accepts calls. Throws if it cannot start. */
export async function startCarrier(options: CarrierOptions): Promise<Carrier> {
  const ports = await freePeerPorts()
  const [from, to] = rtpRange(ports).split('-')
  const recipe = startRecipe(
    'carrier/run.sh',
    {
      ENGINE_URI: options.engineUri,
      INSIDE_TARGET: options.insideTarget,
      EDGE_PORT: String(ports.tls),
      INSIDE_PORT: String(ports.tls - 1),
      NG_PORT: String(ports.control),
      RTP_MIN: String(from),
      RTP_MAX: String(to),
      AUTH_USER: CARRIER_CREDENTIALS.username,
      AUTH_PASS: CARRIER_CREDENTIALS.password,
    },
    options.atTestEnd,
  )
  if (!(await recipe.printed(/^ready/m))) throw new Error(`the carrier did not start:\n${recipe.output()}`)
  return {
    inside: `127.0.0.1:${ports.tls - 1}`,
    uri: number => `sip:${number}@127.0.0.1:${ports.tls};transport=tls`,
    log: () => readRunFile(recipe.directory, 'kamailio.log'),
    suites: callId => {
      const lines = readRunFile(recipe.directory, 'rtpengine.log').split('\n')
      const ofCall = lines.filter(line => line.includes(`[${callId}`))
      return new Set(ofCall.flatMap(line => /Initialized outgoing SRTP.* suite (\w+)/.exec(line)?.[1] ?? []))
    },
  }
}
