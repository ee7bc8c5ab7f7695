import type { Scope } from '@parley/contract'
import type { Sealer } from '@parley/store'
import { z } from 'zod'

/** Path of recording links: PATH/TOKEN is the player page, PATH/TOKEN/audio the audio. */
export const RECORDINGS_PATH = '/recordings'

/** How long a link to the audio is valid. */
export const AUDIO_MS = 5 * 60_000
/** How long a link to the player page is valid when the agent's `signed_urls` is on; otherwise it does not expire. */
export const PAGE_MS = 24 * 60 * 60_000

const CONTEXT = 'recording-link'
/** Longer than any token that `sealLink` returns. */
const MAX_TOKEN = 2048

const link = z.strictObject({
  kind: z.enum(['page', 'audio']),
  owner_id: z.string(),
  environment: z.string(),
  tenant_id: z.uuid(),
  run_id: z.uuid(),
  /** The recording that an audio link gives; null for a page link: the run's current recording. */
  artifact_id: z.string().nullable(),
  /** Unix ms; null: never. */
  expires: z.number().nullable(),
})

/** The recording that a link gives access to; it gives access to nothing else. */
export type RecordingLink = z.output<typeof link>

/** The token of a link, encrypted and authenticated with the platform's key. */
export function sealLink(sealer: Sealer, of: Omit<RecordingLink, keyof Scope>, scope: Scope): string {
  const { owner_id, environment, tenant_id } = scope
  const plain = Buffer.from(JSON.stringify({ ...of, owner_id, environment, tenant_id }))
  return sealer.seal(plain, CONTEXT).toString('base64url')
}

/** Null: the token is invalid or has expired. `now`: Unix ms. */
export function openLink(sealer: Sealer, token: string, now: number): RecordingLink | null {
  if (token.length > MAX_TOKEN || !/^[A-Za-z0-9_-]+$/.test(token)) return null
  let plain: string
  try {
    plain = sealer.open(Buffer.from(token, 'base64url'), CONTEXT).toString('utf8')
  } catch {
    return null
  }
  const read = link.safeParse(parsed(plain))
  if (!read.success) return null
  return read.data.expires !== null && read.data.expires <= now ? null : read.data
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
