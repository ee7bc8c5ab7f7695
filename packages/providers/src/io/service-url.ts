import { ProviderError } from '../errors.ts'

/**
 * A base URL without a slash at its end. Throws `ProviderError` "voice_misconfigured" unless it is a URL with one of the
 * protocols ("wss:") and without user, query and fragment.
 */
export function serviceUrl(baseUrl: string, protocols: readonly string[]): string {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null
  const isPlain = url !== null && url.username === '' && url.password === '' && url.search === '' && url.hash === ''
  if (url === null || !isPlain || !protocols.includes(url.protocol))
    throw new ProviderError('voice_misconfigured', `The base URL is not of the form ${protocols[0]}//host/path.`)
  return `${url.origin === 'null' ? `${url.protocol}//${url.host}` : url.origin}${url.pathname}`.replace(/\/+$/, '')
}
