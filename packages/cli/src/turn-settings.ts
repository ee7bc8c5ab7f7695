import { type IceServer, iceServersFor, isEngineRelay, parseIceUrl, type TurnSettings } from '@parley/webrtc'
import { z } from 'zod'
import { commaList } from './setting-schemas.ts'

/** Most servers that a browser is given: each makes it gather for longer. */
const MAX_SERVERS = 8

/** Whether the engine allocates relays too: no; beside its own addresses; instead of them. */
type EngineRelay = 'no' | 'also' | 'only'

/** TURN and STUN servers of web calls. */
export interface WebRelay extends TurnSettings {
  readonly engine: EngineRelay
}

/** The environment variables of TURN. */
export const turnVariables = {
  PARLEY_TURN_URLS: commaList.prefault('').check(context => {
    if (context.value.length > MAX_SERVERS)
      context.issues.push({
        code: 'custom',
        input: context.value,
        message: `must name at most ${MAX_SERVERS} servers`,
      })
    for (const url of context.value)
      if (parseIceUrl(url) === null)
        context.issues.push({
          code: 'custom',
          input: context.value,
          message: `"${url}" must be the address of a TURN or STUN server, such as turn:turn.example:3478?transport=udp`,
        })
  }),
  PARLEY_TURN_SECRET: z
    .string()
    .regex(/^[\x21-\x7e]{8,256}$/, 'must be 8 to 256 visible ASCII characters without spaces')
    .optional(),
  PARLEY_TURN_ENGINE: z.enum(['no', 'also', 'only'], 'must be no, also or only').default('no'),
}

/** Null: there are no servers. Appends a line for every combination of values that does not fit to `problems`. */
export function webRelayOf(
  values: {
    readonly PARLEY_TURN_URLS: readonly string[]
    readonly PARLEY_TURN_SECRET?: string | undefined
    readonly PARLEY_TURN_ENGINE: EngineRelay
  },
  problems: string[],
): WebRelay | null {
  const { PARLEY_TURN_URLS: urls, PARLEY_TURN_SECRET: secret, PARLEY_TURN_ENGINE: engine } = values
  const hasTurn = urls.some(url => url.startsWith('turn'))
  if (hasTurn && secret === undefined)
    problems.push('PARLEY_TURN_SECRET: set it to the secret that the servers of PARLEY_TURN_URLS share')
  if (!hasTurn && secret !== undefined)
    problems.push('PARLEY_TURN_SECRET: is for TURN servers: name them in PARLEY_TURN_URLS')
  if (engine !== 'no' && !urls.some(isEngineRelay))
    problems.push(
      'PARLEY_TURN_ENGINE: the engine relays through TURN over UDP: name such a server in PARLEY_TURN_URLS, as in turn:turn.example:3478',
    )
  return urls.length === 0 ? null : { urls, secret: secret ?? '', engine }
}

/** An engine refreshes its allocation with the credential of its start; it never leaves the engine. */
const ENGINE_CREDENTIAL_MS = 86_400_000 + 60_000

/** The servers through which the engine relays. */
export function engineIceServers(relay: WebRelay | null, now: number): IceServer[] {
  if (relay === null || relay.engine === 'no') return []
  const urls = relay.urls.filter(isEngineRelay)
  return iceServersFor({ urls, secret: relay.secret }, 'engine', now + ENGINE_CREDENTIAL_MS)
}

/** The servers of a browser, in the form of `RTCIceServer`. */
export function browserIceServers(relay: WebRelay | null, name: string, expiresAt: number) {
  if (relay === null) return []
  return iceServersFor(relay, name, expiresAt).map(({ url, ...credential }) => ({ urls: [url], ...credential }))
}
