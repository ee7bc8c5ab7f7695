import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ParleyClient } from '@parley/client'
import type { NumberRuleInput } from '@parley/loadtest'
import { ensureLocalCertificate } from '@parley/sip'
import { freePeerPorts } from '../../../interop/ports.ts'
import { CarrierProcess } from './carrier-process.ts'

/** Transports between Parley and the carrier: SIP over UDP with RTP, or SIP over TLS with SRTP. */
export const LINES = ['udp', 'tls'] as const
export type Line = (typeof LINES)[number]

/** By line, the number that the carrier's callers dial and that our calls show. */
export const CALLED: Readonly<Record<Line, string>> = { udp: '+12025550151', tls: '+12025550152' }

/** The account of Parley at every far end of the proofs. */
export const ACCOUNT = { username: 'parley', password: 'correct horse battery staple' }
const REALM = 'carrier.example'

/** How the carrier of a line behaves. */
export interface CarrierOptions {
  /** By number called. */
  readonly numbers: readonly NumberRuleInput[]
  /** Default: it accepts REFERs. A number: the status of its refusal. */
  readonly transfers?: 'take' | number
  readonly play?: 'silence' | 'tone'
}

/** Id and name of the line's trunk. */
export function trunkOf(line: Line): string {
  return `carrier-${line}`
}

function hostOf(line: Line): string {
  return `carrier-${line}.test`
}

/** A trunk and what it leads to. */
export interface TrunkPlace {
  readonly trunk_id: string
  /** Of `PARLEY_RESOLVE`. */
  readonly host: string
  readonly transport: Line
  /** The number that its calls show, and that reaches this platform. */
  readonly phone_number: string
}

export function placeOf(line: Line): TrunkPlace {
  return { trunk_id: trunkOf(line), host: hostOf(line), transport: line, phone_number: CALLED[line] }
}

/** Starts the carrier of a line. `entry` is its host for `PARLEY_RESOLVE`. */
export async function openCarrier(line: Line, caPath: string, directory: string, options: CarrierOptions) {
  const lineDirectory = mkdtempSync(join(directory, `${line}-`))
  const { numbers, transfers = 'take', play = 'silence' } = options
  const ports = await freePeerPorts()
  const identity = await ensureLocalCertificate(lineDirectory, { names: [hostOf(line)] })
  for (const name of ['cert', 'key'] as const) writeFileSync(join(lineDirectory, name), identity[name])
  const carrier = await CarrierProcess.open(lineDirectory, {
    transports: line === 'tls' ? { tls: ports.tls } : { udp: ports.tls - 1 },
    media: { kind: line === 'tls' ? 'srtp' : 'rtp', play },
    digest: { ...ACCOUNT, realm: REALM },
    numbers: [...numbers],
    transfers,
    ...(line === 'tls' && { tls: { cert: join(lineDirectory, 'cert'), key: join(lineDirectory, 'key'), ca: caPath } }),
  })
  const port = line === 'tls' ? ports.tls : ports.tls - 1
  const ca = line === 'tls' ? `;${identity.caPath}` : ''
  return { line, carrier, entry: `${hostOf(line)}=127.0.0.1:${port};${line}${ca}` }
}

/** Stores the password of all trunks. Returns the reference to it. */
export async function putTrunkSecret(client: ParleyClient): Promise<{ readonly id: string; readonly version: string }> {
  const secret_id = 'carrier-password'
  const body = { kind: 'sip_auth', value: ACCOUNT.password } as const
  const { version } = await client.secrets.put({ params: { secret_id }, body })
  return { id: secret_id, version }
}

/** Creates a trunk to `host`. Returns the token of its inbound address. */
export async function createTrunk(
  client: ParleyClient,
  { trunk_id, host }: TrunkPlace,
  auth_secret: { readonly id: string; readonly version: string },
): Promise<string> {
  const trunk = await client.trunks.create({
    body: {
      trunk_id,
      name: trunk_id,
      provider: 'generic_sip',
      termination_uri: host,
      auth_username: ACCOUNT.username,
      auth_secret,
      inbound: true,
    },
  })
  return trunk.inbound_sip_uri!.replace(/^sips?:/, '').split('@')[0]!
}
