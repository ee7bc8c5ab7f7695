const TTS = 'https://texttospeech.googleapis.com'
/** Google's servers, or those of a region: "https://eu-texttospeech.googleapis.com". */
const GOOGLE_TTS = /^https:\/\/([a-z0-9-]+-)?texttospeech\.googleapis\.com$/

/**
 * The servers of both services, by the base URL of Text-to-Speech: Google names those of Speech-to-Text alike. Another base
 * URL, such as that of a proxy, is that of both.
 */
export function googleServers(baseUrl: string = TTS): { readonly stt: string; readonly tts: string } {
  const tts = baseUrl.replace(/\/+$/, '')
  return { stt: GOOGLE_TTS.test(tts) ? tts.replace('texttospeech', 'speech') : tts, tts }
}

/** The header that carries the key, over HTTP and gRPC. */
export function googleKey(apiKey: string): Readonly<Record<string, string>> {
  return { 'x-goog-api-key': apiKey }
}
