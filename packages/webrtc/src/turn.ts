import { createHmac } from 'node:crypto'
import type { IceServer } from './protocol.ts'

/** TURN and STUN servers of a deployment. */
export interface TurnSettings {
  /** As in `RTCIceServer.urls` (RFC 7064, RFC 7065): `turn:turn.example:3478?transport=udp`, `turns:…`, `stun:…`. */
  readonly urls: readonly string[]
  /** Shared with the TURN servers (`static-auth-secret` of coturn), which accept every credential that was made with it. */
  readonly secret: string
}

const TURN_URL =
  /^(?<scheme>stun|stuns|turn|turns):(?<host>[A-Za-z0-9.-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::(?<port>\d{1,5}))?(?:\?transport=(?<transport>udp|tcp))?$/

/** Parts of the address of a TURN or STUN server. Ports: by default 3478, 5349 with TLS. */
interface ParsedIceUrl {
  readonly scheme: 'stun' | 'stuns' | 'turn' | 'turns'
  readonly host: string
  readonly port: number
  readonly transport: 'udp' | 'tcp'
}

/** Null: the text is no address of a TURN or STUN server. An address of IPv6 is in brackets. */
export function parseIceUrl(url: string): ParsedIceUrl | null {
  const groups = TURN_URL.exec(url)?.groups
  if (groups === undefined) return null
  const scheme = groups.scheme as ParsedIceUrl['scheme']
  const isTls = scheme.endsWith('s')
  if (scheme.startsWith('stun') && groups.transport !== undefined) return null
  const port = Number(groups.port ?? (isTls ? 5349 : 3478))
  if (port < 1 || port > 65_535) return null
  return {
    scheme,
    host: groups.host!.replace(/^\[|\]$/g, ''),
    port,
    transport: (groups.transport ?? (isTls ? 'tcp' : 'udp')) as 'udp' | 'tcp',
  }
}

/** Whether the engine can relay through this server: its ICE agent speaks TURN over UDP only. */
export function isEngineRelay(url: string): boolean {
  const parsed = parseIceUrl(url)
  return parsed?.scheme === 'turn' && parsed.transport === 'udp'
}

/**
 * The servers with a credential that is valid until `expiresAt` (Unix ms): the user name is the expiry in seconds and a name, the
 * credential their HMAC-SHA1 under the secret (draft-uberti-behave-turn-rest-00). `name` shows whose it is in the server's log.
 */
export function iceServersFor({ urls, secret }: TurnSettings, name: string, expiresAt: number): IceServer[] {
  const username = `${Math.ceil(expiresAt / 1000)}:${name}`
  const credential = createHmac('sha1', secret).update(username).digest('base64')
  return urls.map(url => (url.startsWith('turn') ? { url, username, credential } : { url }))
}
