import type { ResultFrom } from '@parley/client'
import type { CallAccess } from '@parley/web'
import type { TextKey } from '../i18n/en.ts'

type WebAccess = NonNullable<ResultFrom<'runs.create'>['web']>

/**
 * Address and token of a web run, the address at the origin of this page: its policy allows requests to no other, and the server may
 * have another name for itself.
 */
export function accessAt(
  origin: string,
  { url, token, ice_servers }: Pick<WebAccess, 'url' | 'token' | 'ice_servers'>,
): CallAccess {
  const { pathname } = new URL(url)
  return { url: new URL(pathname, origin).href, token, ice_servers }
}

/** What kept the browser from the microphone; null: the failure is another one. */
export function microphoneFault(error: unknown): TextKey | null {
  if (!(error instanceof Error)) return null
  if (error.name === 'NotAllowedError') return 'talk.refused'
  if (error.name === 'NotFoundError' || error.name === 'NotReadableError') return 'talk.noMicrophone'
  return null
}
