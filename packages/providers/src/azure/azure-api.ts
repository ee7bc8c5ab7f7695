import { ProviderError } from '../errors.ts'

/** An address of a resource that every service of its region shares; the region's servers for speech are named after it. */
const REGIONAL = /^https:\/\/([a-z0-9]+)\.api\.cognitive\.microsoft\.com\/?$/

/**
 * The servers of a speech resource, by the endpoint that the portal shows: one of a region, or one of the resource's own
 * (a custom domain). Throws `ProviderError` "model_misconfigured" without one.
 */
export function azureServers(endpoint: string | undefined): { readonly stt: string; readonly tts: string } {
  if (endpoint === undefined)
    throw new ProviderError(
      'model_misconfigured',
      'azure needs the endpoint of its region: set AZURE_BASE_URL, such as https://westeurope.api.cognitive.microsoft.com.',
    )
  const region = REGIONAL.exec(endpoint)?.[1]
  if (region !== undefined)
    return { stt: `wss://${region}.stt.speech.microsoft.com`, tts: `https://${region}.tts.speech.microsoft.com` }
  const base = endpoint.replace(/\/+$/, '')
  return { stt: `${base.replace(/^http/, 'ws')}/stt`, tts: `${base}/tts` }
}

/** The header that carries the key. */
export function azureKey(apiKey: string): Readonly<Record<string, string>> {
  return { 'ocp-apim-subscription-key': apiKey }
}
