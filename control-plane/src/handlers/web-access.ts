import { createHash } from 'node:crypto'
import { type Random, randomToken } from '@parley/kernel'
import { insertWebCall } from '@parley/store'
import type { BrowserIceServer } from '../context.ts'
import type { RunContext } from './run-context.ts'

/** Path of the offers of web calls; the run's id follows. */
export const WEB_RUNS_PATH = '/web/runs'

/** A web run waits this long for the offer of its browser, ms. */
const TOKEN_MS = 5 * 60_000
/** The agent waits this long in the room for the visitor, ms: it takes the place of a call meanwhile. */
const ROOM_TOKEN_MS = 2 * 60_000
/** 160 bits. */
const SECRET_CHARACTERS = 32

/** How the browser of a web run takes part in it. */
export interface WebAccess {
  readonly kind: 'direct' | 'livekit'
  readonly url: string
  readonly token: string
  readonly expires_at: string
  /** For the browser's `RTCPeerConnection`; the credentials are valid as long as the agent's longest call. */
  readonly ice_servers: BrowserIceServer[]
}

/** Makes the admitted run a web call of at most `maxCallDurationMs`; returns its address and token. */
export async function issueWebCall(
  { db, scope, platform, principal }: Pick<RunContext, 'db' | 'scope' | 'platform' | 'principal'>,
  runId: string,
  maxCallDurationMs: number,
): Promise<WebAccess> {
  const token = newWebSecret('wt', { bytes: platform.randomBytes })
  const expires_at = await insertWebCall(db, scope, {
    run_id: runId,
    token_hash: webSecretHash(token),
    validForMs: TOKEN_MS,
    site_key_id: principal.ref.kind === 'site_key' ? principal.ref.id : null,
  })
  return {
    kind: 'direct',
    url: `${platform.baseUrl()}${WEB_RUNS_PATH}/${runId}`,
    token,
    expires_at,
    // A page whose path was lost gathers again, until the end of the call.
    ice_servers: platform.iceServers(runId, platform.now() + TOKEN_MS + maxCallDurationMs),
  }
}

/** Makes the admitted run a web call by LiveKit; returns the server's address and the token of the visitor. */
export async function issueRoomCall(
  { db, scope, platform, principal }: Pick<RunContext, 'db' | 'scope' | 'platform' | 'principal'>,
  runId: string,
): Promise<WebAccess> {
  const { url, token } = await platform.webRooms!.visitorAccess(runId, ROOM_TOKEN_MS)
  const expires_at = await insertWebCall(db, scope, {
    run_id: runId,
    token_hash: webSecretHash(token),
    validForMs: ROOM_TOKEN_MS,
    site_key_id: principal.ref.kind === 'site_key' ? principal.ref.id : null,
    kind: 'livekit',
  })
  return { kind: 'livekit', url, token, expires_at, ice_servers: [] }
}

/** A secret of a web call. `kind`: wt a token, wr the secret for offers after the first. */
export function newWebSecret(kind: 'wt' | 'wr', random: Random): string {
  return `${kind}_${randomToken(random, SECRET_CHARACTERS)}`
}

/** SHA-256, as it is stored. */
export function webSecretHash(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}
