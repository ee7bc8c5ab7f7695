/** Base URL of Deepgram's streaming API. */
export const DEEPGRAM_URL = 'wss://api.deepgram.com'

/** Value of the Authorization header. */
export function deepgramToken(apiKey: string): string {
  return `Token ${apiKey}`
}
