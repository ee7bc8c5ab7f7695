import { SeededRandom } from '@parley/kernel'
import type { LocalMedia } from '../src/sdp/local-media.ts'
import { extractSdp } from '../src/sdp/multipart.ts'
import { acceptAnswer, createOffer, planAnswer } from '../src/sdp/offer-answer.ts'
import { parseSdp } from '../src/sdp/parse.ts'
import { serialiseSdp } from '../src/sdp/serialise.ts'
import type { SessionDescription } from '../src/sdp/session-description.ts'

/**
 * Processes any bytes as a session description, as an offer, as an answer and as a multipart body. Throws when one of
 * these fails: no exception, a description is unchanged by serialising and parsing, an answer matches its offer.
 */
export function fuzzSdp(bytes: Uint8Array): void {
  const extracted = extractSdp('multipart/mixed;boundary=b', bytes)
  const offers = extracted.ok ? [bytes, extracted.sdp] : [bytes]
  for (const offer of offers) {
    const parsed = parseSdp(offer)
    if (parsed.ok) survivesWriting(parsed.description)
    for (const security of ['srtp-required', 'rtp-only'] as const) {
      const local = fuzzLocal(security)
      const planned = planAnswer(local, offer)
      if (planned.ok && parsed.ok) fitsItsOffer(parsed.description, planned.answer, security)
      else if (planned.ok) throw new Error('an offer that cannot be read was answered')
      else if (!/^[ !#-[\]-~]+$/.test(planned.warning)) throw new Error(`Warning: ${planned.warning}`)
      const accepted = acceptAnswer(createOffer(local).pending, offer)
      if (accepted.ok && (accepted.parameters.srtp === null) !== (security === 'rtp-only'))
        throw new Error('downgraded')
    }
  }
}

function fuzzLocal(security: LocalMedia['security']): LocalMedia {
  return { address: '127.0.0.1', port: 10_000, sessionId: '1', security, random: new SeededRandom(1) }
}

function survivesWriting(description: SessionDescription): void {
  // An `a=crypto` line that cannot be parsed is not serialised: only the fact that there was one is lost.
  const media = description.media.map(line => ({ ...line, hasCrypto: line.crypto.length > 0 }))
  const again = parseSdp(serialiseSdp(description))
  if (!again.ok) throw new Error(`written but not read: ${again.detail}`)
  const [before, after] = [{ ...description, media }, again.description].map(value => JSON.stringify(value, bigints))
  if (before !== after) throw new Error(`${before} was read back as ${after}`)
}

function bigints(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? `${value}n` : value
}

function fitsItsOffer(offer: SessionDescription, answer: Uint8Array, security: LocalMedia['security']): void {
  const parsed = parseSdp(answer)
  if (!parsed.ok) throw new Error(`our answer cannot be read: ${parsed.detail}`)
  const { media } = parsed.description
  if (media.length !== offer.media.length) throw new Error('the answer has another number of media lines')
  if (media.filter(line => line.port !== 0).length !== 1) throw new Error('not exactly one line is taken')
  for (const [i, line] of media.entries()) {
    const offered = offer.media[i]!
    if (line.kind !== offered.kind || line.protocol !== offered.protocol) throw new Error('a media line changed')
    if (line.port === 0) continue
    if (line.crypto.length !== (security === 'srtp-required' ? 1 : 0)) throw new Error('keys do not fit the security')
    if (!line.formats.every(format => offered.formats.includes(format))) throw new Error('a format was not offered')
  }
}
