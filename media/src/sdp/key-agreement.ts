import type { SrtpKey, SrtpParameters, SrtpSuite } from '../session/media-session.ts'
import { keyAndSaltBytes } from '../srtp/srtp-suite.ts'
import type { LocalMedia } from './local-media.ts'
import { type RefusedAnswer, refusedAnswer, type UsableCrypto, usableCrypto } from './peer-media.ts'
import { AEAD_SUITES, OFFERED_SUITES, sameKey } from './sdes.ts'
import type { CryptoAttribute, MediaDescription } from './session-description.ts'

/**
 * The crypto lines of our offer (RFC 4568 section 7.1.1): fresh keys in the first offer and on request, otherwise the
 * agreed ones.
 */
export function offeredCrypto(local: LocalMedia, before: MediaDescription | undefined): readonly CryptoAttribute[] {
  if (before !== undefined && before.crypto.length > 0 && local.renewKeys !== true) return before.crypto
  const suites = local.offerAead === true ? [...AEAD_SUITES, ...OFFERED_SUITES] : OFFERED_SUITES
  return suites.map((suite, i) => cryptoLine(i + 1, newKey(local, suite)))
}

function newKey(local: LocalMedia, suite: SrtpSuite): SrtpKey {
  return { suite, keyAndSalt: local.random.bytes(keyAndSaltBytes(suite)) }
}

export function cryptoLine(tag: number, key: SrtpKey): CryptoAttribute {
  const { suite, keyAndSalt } = key
  return { tag, suite, keyAndSalt, lifetimePackets: null, mki: null, sessionParameters: [] }
}

/**
 * Our key stays the same as long as the peer's does; a peer that re-keys gets a new one, so both directions start over
 * together.
 */
export function answerKeys(local: LocalMedia, chosen: UsableCrypto): SrtpParameters {
  const before = local.previous?.agreed?.srtp ?? null
  if (before !== null && local.renewKeys !== true && sameKey(before.receive, chosen.key)) return before
  return { send: newKey(local, chosen.key.suite), receive: chosen.key }
}

/** The keys that the one crypto line of the answer selects from the offered lines (RFC 4568 section 7.1.3). */
export function acceptedKeys(offered: MediaDescription, media: MediaDescription): SrtpParameters | RefusedAnswer {
  if (!media.hasCrypto) return refusedAnswer('answer_without_crypto', 'the answer has no a=crypto')
  if (media.crypto.length !== 1)
    return refusedAnswer('answer_crypto', 'the answer has not exactly one readable a=crypto')
  const answered = usableCrypto(media)[0]
  if (answered === undefined) return refusedAnswer('answer_crypto', 'the a=crypto of the answer cannot be used')
  const ours = offered.crypto.find(line => line.tag === answered.attribute.tag)
  if (ours === undefined) return refusedAnswer('answer_crypto_tag', `tag ${answered.attribute.tag} was not offered`)
  if (ours.suite !== answered.key.suite) {
    return refusedAnswer(
      'answer_crypto_suite',
      `tag ${ours.tag} was offered as ${ours.suite}, not ${answered.key.suite}`,
    )
  }
  const send: SrtpKey = { suite: answered.key.suite, keyAndSalt: ours.keyAndSalt }
  if (sameKey(send, answered.key)) return refusedAnswer('answer_crypto_reflected', 'the peer answers with our own key')
  return { send, receive: answered.key }
}
